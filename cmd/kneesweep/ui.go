package main

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"kneesweep/analysis"
	"kneesweep/report"
	"kneesweep/report/page"
)

const (
	statusEvery = 500 * time.Millisecond
	// analysisShare bounds the time spent on analysing for those who watch: the
	// machine is busy measuring.
	analysisShare = 0.05
	farewell      = 2 * time.Second // for browsers to take the last state
)

// ui serves the page of a running sweep: it shows, and takes nothing. The nil ui
// serves nobody.
type ui struct {
	server *http.Server
	token  string        // asked for unless all come over the loopback; empty = nobody needs one
	done   chan struct{} // closed when no other state will come
	end    sync.Once     // closes done

	mu       sync.Mutex
	watchers map[chan struct{}]bool // each is woken when something is new
	page     page.Page
	state    []byte // of page
	version  int    // of state
	status   string
	metrics  http.Handler // nil = the sweep has not begun
}

func uiFlag(category string) cli.Flag {
	return &cli.StringFlag{Category: category, Name: "ui", Usage: "show the page of the running sweep at `ADDR`, such as 127.0.0.1:8080; beyond the loopback it asks for a token"}
}

// checkUI reports an address that cannot be one.
func checkUI(addr string) error {
	if addr == "" {
		return nil
	}
	if _, _, err := net.SplitHostPort(addr); err != nil {
		return fmt.Errorf("--ui: %q is no address, write 127.0.0.1:8080", addr)
	}
	return nil
}

// startUI serves the page at addr and says where; nil without an address.
func startUI(addr string, stderr io.Writer) (*ui, error) {
	if addr == "" {
		return nil, nil
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("--ui: %w", err)
	}
	u := &ui{done: make(chan struct{}), watchers: map[chan struct{}]bool{}}
	address := "http://" + l.Addr().String() + "/"
	if at, err := netip.ParseAddrPort(l.Addr().String()); err != nil || !at.Addr().Unmap().IsLoopback() {
		u.token = rand.Text()
		address += "?token=" + u.token
	}
	u.publish(page.Page{Title: "kneesweep", Headline: "The sweep begins", Lead: "The curve appears as soon as a level was measured."})
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", u.servePage)
	mux.HandleFunc("GET /events", u.serveEvents)
	mux.HandleFunc("GET /metrics", u.showMetrics)
	mux.HandleFunc("GET /favicon.ico", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	u.server = &http.Server{Handler: u.guard(mux), ReadHeaderTimeout: 10 * time.Second, ErrorLog: log.New(io.Discard, "", 0)}
	go func() { _ = u.server.Serve(l) }() // ends with close
	fmt.Fprintf(stderr, "live view: %s\n", address)
	return u, nil
}

// guard keeps out who has no token, and over the loopback pages of other names that
// point here (DNS rebinding).
func (u *ui) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Cache-Control", "no-store")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		switch {
		case u.token == "" && !local(r.Host):
			http.Error(w, "ask for this page by the address that was printed", http.StatusForbidden)
		case u.token != "" && subtle.ConstantTimeCompare([]byte(r.URL.Query().Get("token")), []byte(u.token)) != 1:
			http.Error(w, "the address that was printed has a token", http.StatusForbidden)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// local reports whether a host is this machine under a name that nobody else can give.
func local(hostPort string) bool {
	host, _, err := net.SplitHostPort(hostPort)
	if err != nil {
		host = hostPort
	}
	a, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && a.Unmap().IsLoopback()
}

// serveMetrics shows the metrics of the sweep, for Prometheus, from now on.
func (u *ui) serveMetrics(h http.Handler) {
	if u == nil {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.metrics = h
}

func (u *ui) showMetrics(w http.ResponseWriter, r *http.Request) {
	u.mu.Lock()
	h := u.metrics
	u.mu.Unlock()
	if h == nil {
		http.Error(w, "the sweep has not begun", http.StatusServiceUnavailable)
		return
	}
	h.ServeHTTP(w, r)
}

func (u *ui) servePage(w http.ResponseWriter, _ *http.Request) {
	u.mu.Lock()
	p := u.page
	u.mu.Unlock()
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_ = page.Live(w, p) // a browser that went away
}

// serveEvents sends the state whenever it changes and the status in between, until
// the sweep is over.
func (u *ui) serveEvents(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	wake := make(chan struct{}, 1)
	u.watch(wake, true)
	defer u.watch(wake, false)
	sent, said := -1, ""
	send := func() error {
		u.mu.Lock()
		state, version, status := u.state, u.version, u.status
		u.mu.Unlock()
		if version != sent {
			sent = version
			if _, err := fmt.Fprintf(w, "event: state\ndata: %s\n\n", state); err != nil {
				return err
			}
		}
		if status != said {
			said = status
			if err := say(w, "status", status); err != nil {
				return err
			}
		}
		return out.Flush()
	}
	for {
		if send() != nil {
			return
		}
		select {
		case <-wake:
		case <-r.Context().Done():
			return
		case <-u.done:
			if send() == nil && say(w, "end", said) == nil {
				_ = out.Flush()
			}
			return
		}
	}
}

// say writes an event with a text.
func say(w io.Writer, event, text string) error {
	b, err := json.Marshal(text)
	if err == nil {
		_, err = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", event, b)
	}
	return err
}

func (u *ui) watch(wake chan struct{}, on bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if on {
		u.watchers[wake] = true
	} else {
		delete(u.watchers, wake)
	}
}

func (u *ui) watched() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return len(u.watchers) > 0
}

// publish shows p and wakes all who watch.
func (u *ui) publish(p page.Page) {
	state, err := page.State(p)
	if err != nil {
		return // the last state stays
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.page, u.state = p, state
	u.version++
	u.wake()
}

func (u *ui) tell(status string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.status = status
	u.wake()
}

// wake wakes all who watch; the caller holds the lock.
func (u *ui) wake() {
	for c := range u.watchers {
		select {
		case c <- struct{}{}:
		default: // awake already
		}
	}
}

// follow shows a sweep until the returned function is called: its status all the
// time, and its curve as often as may be when a visit is over and somebody watches.
func (u *ui) follow(v *liveRun, status func() string) (stop func()) {
	if u == nil {
		return func() {}
	}
	quit := make(chan struct{})
	var both sync.WaitGroup
	every := func(wait func() time.Duration, act func()) {
		both.Go(func() {
			for {
				select {
				case <-quit:
					return
				case <-time.After(wait()):
					act()
				}
			}
		})
	}
	every(func() time.Duration { return statusEvery }, func() { u.tell(status()) })
	took, shown := time.Duration(0), 0
	every(func() time.Duration { return max(statusEvery, time.Duration(float64(took)/analysisShare)) }, func() {
		if visits := v.finished(); visits != shown && u.watched() {
			began := time.Now()
			u.publish(report.Page(v.curve(), nil))
			took, shown = time.Since(began), visits
		}
	})
	return func() { close(quit); both.Wait() }
}

// finish shows the result.
func (u *ui) finish(c analysis.Curve, dir string) {
	if u == nil {
		return
	}
	u.publish(report.Page(c, nil))
	u.tell(fmt.Sprintf("The sweep has ended (%s). The same page is %s in the folder %s.", c.Run.Status, pageFile, dir))
	u.end.Do(func() { close(u.done) })
}

// close waits a little until browsers have taken the last state.
func (u *ui) close() {
	if u == nil {
		return
	}
	u.end.Do(func() { close(u.done) })
	ctx, cancel := context.WithTimeout(context.Background(), farewell)
	defer cancel()
	if errors.Is(u.server.Shutdown(ctx), context.DeadlineExceeded) {
		_ = u.server.Close()
	}
}
