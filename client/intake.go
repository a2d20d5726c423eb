package client

import (
	"io"
	"time"
)

// intake is the body of an answer that knows when what it returned last had arrived.
//
// The kernel stamps with the wall clock. Both clocks are read together after every
// read, so that no offset between them is kept that could grow old: the arrival is
// the monotonic time less the lag, and the lag the wall time less the stamp. What
// would make that wrong is a clock that is set between the arrival and the read; the
// distance of the clocks then jumps, and the stamp is not believed.
type intake struct {
	body  io.Reader
	epoch time.Time
	seen  *receipt // nil: the connection has no stamps of the kernel
	user  int64    // which of its users this is
	reads int64    // of the connection, at the last read of the body

	batch  int           // number of the arrival of what was read last: what has one number has one stamp
	at     time.Duration // that arrival
	lag    time.Duration // from then until it was read
	kernel bool          // the kernel said so, and lag is known

	now   time.Duration // of the last reading of the clocks
	ahead time.Duration // distance of the wall clock from ours then
}

const (
	clockJump = time.Millisecond // a change of the clocks' distance that is no noise,
	clockSlew = 1000             // beyond one part in so many, by which a clock may be slewed
)

// start reads the clocks at the moment of sending, before which nothing can arrive.
func (in *intake) start(epoch time.Time) time.Duration {
	in.epoch = epoch
	in.tick()
	in.at = in.now
	return in.now
}

// listen asks the connection to tell of its reads from now on; nil, and one without
// stamps of the kernel, has nothing to tell.
func (in *intake) listen(nc *conn) {
	in.seen = nil
	if nc != nil && nc.socket != nil {
		in.seen = &nc.socket.receipt
		in.user, in.reads = in.seen.users.Add(1), in.seen.reads.Load()
	}
}

// tick reads both clocks; it returns the wall clock in ns and whether it went on as ours.
func (in *intake) tick() (wall int64, even bool) {
	t := time.Now()
	wall = t.UnixNano()
	now := t.Sub(in.epoch)
	ahead := time.Duration(wall) - now
	jump := (ahead - in.ahead).Abs()
	even = jump <= clockJump+(now-in.now)/clockSlew
	in.now, in.ahead = now, ahead
	return wall, even
}

// Read reads the body and stamps what came. A chunk of HTTP that takes several reads
// of the connection is handed out whole by net/http, and so has the stamp of the last.
func (in *intake) Read(b []byte) (int, error) {
	n, err := in.body.Read(b)
	wall, even := in.tick()
	var stamp int64
	more, held := false, false // the connection has read since; it had read before what came now
	if in.seen != nil {
		reads := in.seen.reads.Load()
		stamp, more, in.reads = in.seen.stamp.Load(), reads != in.reads, reads
		if in.seen.users.Load() != in.user { // all has come, and the read may be that of another
			more, stamp = true, 0
		}
		held = !more && n > 0
	}
	lag := time.Duration(wall - stamp)
	switch {
	case held:
	case more && stamp > 0 && even && lag >= 0:
		in.arrive(in.now-lag, true)
	default:
		in.arrive(in.now, false)
	}
	in.lag = in.now - in.at
	return n, err
}

// arrive notes an arrival. One with a stamp may follow one without, which was late,
// but nothing comes before what came earlier.
func (in *intake) arrive(at time.Duration, kernel bool) {
	in.at, in.kernel = max(at, in.at), kernel
	in.batch++
}

// arrived returns the arrival of what was read last.
func (in *intake) arrived() time.Duration { return in.at }
