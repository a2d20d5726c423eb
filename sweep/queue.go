package sweep

import "sync"

// queue holds events until the sinks take them. It has no bound: a stream never waits
// for a sink, since that would lower the load that is being measured, and nothing is
// lost. What it holds at worst is what [Memory] keeps of a sweep in any case. It is
// safe for concurrent use.
type queue struct {
	mu    sync.Mutex
	list  []Event
	ready chan struct{} // buffered 1: there is something, or there will be no more
	ended bool
}

func newQueue() *queue { return &queue{ready: make(chan struct{}, 1)} }

func (q *queue) put(e Event) {
	q.mu.Lock()
	q.list = append(q.list, e)
	q.mu.Unlock()
	q.signal()
}

// end says that nothing more will be put.
func (q *queue) end() {
	q.mu.Lock()
	q.ended = true
	q.mu.Unlock()
	q.signal()
}

func (q *queue) signal() {
	select {
	case q.ready <- struct{}{}:
	default:
	}
}

// take returns what is there, in order; more is false after the last of it.
func (q *queue) take() (list []Event, more bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	list, q.list = q.list, nil
	return list, !q.ended
}
