package knee

// Scatter returns τ, the standard deviation of the relative error that all
// windows of a level share, as the interval of the knee takes it from the lack
// of fit of the levels, with its degrees of freedom. A curve that is not two
// straight lines looks as if it had more. With one window a level it is all
// scatter there is. ok is false with fewer than four levels or without a rise.
func Scatter(points []Point) (tau float64, df int, ok bool) {
	levels := pool(points)
	if len(levels) < minLevels {
		return 0, 0, false
	}
	levels, _ = dropOutliers(levels)
	s, ok := fitSegmented(levels)
	if !ok || s.count <= 3 {
		return 0, 0, false
	}
	return levelScatter(levels[:s.count]), s.count - 3, true
}
