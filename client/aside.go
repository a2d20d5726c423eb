package client

// aside runs f on a goroutine of its own and waits for it. encoding/json needs up to
// 16 KiB of stack, which a goroutine keeps once it has had them, and every stream
// has one.
func aside(f func() error) error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	return <-done
}

// decode reads a frame that nothing quicker could read: aside where that is seldom,
// so that it costs no event anything.
func (x *exchange) decode(name, data []byte) error {
	d := &x.decoded
	if !x.wire.quick {
		return x.wire.decode(d, name, data)
	}
	return aside(func() error { return x.wire.decode(d, name, data) })
}
