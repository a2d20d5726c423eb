package client

// decodeAside is decode on a goroutine of its own. encoding/json needs up to 16 KiB of
// stack, which a goroutine keeps once it has had them, and every stream has one.
func (d *delta) decodeAside(data []byte) error {
	done := make(chan error, 1)
	go func() { done <- d.decode(data) }()
	return <-done
}
