package client

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

// A read is believed to have come when the kernel says, unless that cannot be.
func TestIntake(t *testing.T) {
	const lag = 3 * ms
	type read struct {
		reads int64         // of the connection, before the body's read returned
		stamp time.Duration // how long ago the kernel had received the last; 0 = it does not say
		err   error
		at    time.Duration // when it is said to have come, 10 ms after the read before it
		batch int
		known bool
	}
	for name, c := range map[string]struct {
		deaf  bool          // the connection has no stamps
		taken bool          // another request has got the connection before the first read was looked at
		jump  time.Duration // the wall clock was set, before the first read
		reads []read
	}{
		"stamps":                     {reads: []read{{reads: 1, stamp: lag, at: 7 * ms, batch: 1, known: true}, {reads: 2, stamp: lag, at: 17 * ms, batch: 2, known: true}}},
		"no stamps":                  {deaf: true, reads: []read{{at: 10 * ms, batch: 1}, {at: 20 * ms, batch: 2}}},
		"not stamped":                {reads: []read{{reads: 1, at: 10 * ms, batch: 1}, {reads: 2, stamp: lag, at: 17 * ms, batch: 2, known: true}}},
		"buffered":                   {reads: []read{{reads: 1, stamp: lag, at: 7 * ms, batch: 1, known: true}, {reads: 1, stamp: 13 * ms, at: 7 * ms, batch: 1, known: true}}},
		"buffered without a stamp":   {reads: []read{{reads: 1, at: 10 * ms, batch: 1}, {reads: 1, at: 10 * ms, batch: 1}}},
		"two reads for one":          {reads: []read{{reads: 2, stamp: lag, at: 7 * ms, batch: 1, known: true}}},
		"never back":                 {reads: []read{{reads: 1, at: 10 * ms, batch: 1}, {reads: 2, stamp: 12 * ms, at: 10 * ms, batch: 2, known: true}}},
		"not before sending":         {reads: []read{{reads: 1, stamp: 11 * ms, at: 0, batch: 1, known: true}}},
		"from the future":            {reads: []read{{reads: 1, stamp: -1, at: 10 * ms, batch: 1}}},
		"clock set forward":          {jump: time.Second, reads: []read{{reads: 1, stamp: time.Second, at: 10 * ms, batch: 1}, {reads: 2, stamp: lag, at: 17 * ms, batch: 2, known: true}}},
		"clock set back":             {jump: -2 * ms, reads: []read{{reads: 1, stamp: lag, at: 10 * ms, batch: 1}}},
		"clock slewed":               {jump: 500 * time.Microsecond, reads: []read{{reads: 1, stamp: lag, at: 7 * ms, batch: 1, known: true}}},
		"taken by the next":          {taken: true, reads: []read{{reads: 1, stamp: lag, at: 10 * ms, batch: 1}}},
		"the end is no arrival":      {reads: []read{{reads: 1, stamp: lag, at: 7 * ms, batch: 1, known: true}, {reads: 1, stamp: 13 * ms, err: io.EOF, at: 20 * ms, batch: 2}}},
		"the end came with its mark": {reads: []read{{reads: 1, stamp: lag, err: io.EOF, at: 7 * ms, batch: 1, known: true}}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				var in intake
				in.start(time.Now())
				if !c.deaf {
					in.seen = new(receipt)
				}
				if c.taken {
					in.seen.users.Add(1)
				}
				in.ahead -= c.jump
				for i, r := range c.reads {
					time.Sleep(10 * ms)
					in.body = strings.NewReader("x")
					if r.err != nil {
						in.body = iotest.ErrReader(r.err)
					}
					if in.seen != nil {
						in.seen.reads.Store(r.reads)
						in.seen.stamp.Store(0)
						if r.stamp != 0 {
							in.seen.stamp.Store(time.Now().Add(-r.stamp).UnixNano())
						}
					}
					if _, err := in.Read(make([]byte, 1)); err != r.err {
						t.Fatal(err)
					}
					if in.at != r.at || in.batch != r.batch || in.kernel != r.known || in.arrived()+in.lag != in.now {
						t.Errorf("read %d: arrived %v, batch %d, from the kernel %v, lag %v; want %+v", i, in.at, in.batch, in.kernel, in.lag, r)
					}
				}
			})
		})
	}
}
