package client

// aside runs f on a goroutine of its own and waits for it. encoding/json needs up to
// 16 KiB of stack, which a goroutine keeps once it has had them, and every stream
// has one.
func aside(f func() error) error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	return <-done
}
