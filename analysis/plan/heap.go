package plan

// heap holds requests by the progress at which they are done, the least first.
type heap []entry

type entry struct {
	at float64
	id int
}

func (h *heap) push(at float64, id int) {
	*h = append(*h, entry{at, id})
	a := *h
	for i := len(a) - 1; i > 0; {
		up := (i - 1) / 2
		if a[up].at <= a[i].at {
			return
		}
		a[up], a[i] = a[i], a[up]
		i = up
	}
}

func (h *heap) pop() int {
	a := *h
	id := a[0].id
	last := len(a) - 1
	a[0] = a[last]
	a = a[:last]
	*h = a
	for i := 0; ; {
		least := 2*i + 1
		if least >= last {
			return id
		}
		if right := least + 1; right < last && a[right].at < a[least].at {
			least = right
		}
		if a[i].at <= a[least].at {
			return id
		}
		a[i], a[least] = a[least], a[i]
		i = least
	}
}
