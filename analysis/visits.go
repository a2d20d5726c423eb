package analysis

// VisitRates are the tokens/s of the windows of single visits, by level and pass,
// as the step of the level counts them: visits that were cut short are not there,
// and where a level was measured again, only that visit is. A pass without a
// window is not there either. The data must hold single requests.
func VisitRates(d Data) map[int]map[int][]float64 {
	all := d.requests()
	rates := map[int]map[int][]float64{}
	for n, visits := range visitsByLevel(d.Visits) {
		level := newLevelData(d.Run, n, visits, all)
		passes := map[int][]float64{}
		for i := range level.stays {
			s := &level.stays[i]
			if len(s.Windows) > 0 && s.Ended == "" {
				passes[s.Level.Pass] = append(passes[s.Level.Pass], level.tally(s).all...)
			}
		}
		if len(passes) > 0 {
			rates[n] = passes
		}
	}
	return rates
}
