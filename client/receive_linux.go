//go:build linux && (amd64 || arm64)

package client

import (
	"io"
	"net"
	"os"
	"syscall"
	"unsafe"
)

// receiver reads a TCP socket and learns from the kernel when the bytes came that a
// read returns: when its last segment was received. One read is one system call, made
// from a callback that exists once per connection. It is for one reader at a time.
type receiver struct {
	receipt
	raw     syscall.RawConn
	ready   func(fd uintptr) bool // r.receive, made once: a new one for each read would be garbage
	n       int
	errno   syscall.Errno
	vector  syscall.Iovec
	message syscall.Msghdr
	control control
	conn    net.Conn // for its addresses
}

// control is room for the one control message that is asked for.
type control struct {
	header syscall.Cmsghdr
	time   syscall.Timespec
}

// newReceiver asks the kernel to stamp what arrives; nil if nc is no TCP connection of
// its own or the kernel refuses.
func newReceiver(nc net.Conn) *receiver {
	tcp, ok := nc.(*net.TCPConn)
	if !ok {
		return nil
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return nil
	}
	var refused error
	err = raw.Control(func(fd uintptr) {
		refused = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_TIMESTAMPNS, 1)
	})
	if err != nil || refused != nil {
		return nil
	}
	r := &receiver{raw: raw, conn: nc}
	r.ready = r.receive
	return r
}

// read is [net.Conn.Read], and leaves a receipt.
func (r *receiver) read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	r.vector.Base = &b[0]
	r.vector.SetLen(len(b))
	err := r.raw.Read(r.ready)
	r.vector.Base = nil
	switch {
	case err != nil:
		return 0, err
	case r.errno != 0:
		return 0, &net.OpError{Op: "read", Net: "tcp", Source: r.conn.LocalAddr(), Addr: r.conn.RemoteAddr(), Err: os.NewSyscallError("recvmsg", r.errno)}
	case r.n == 0:
		return 0, io.EOF
	}
	r.stamp.Store(r.stamped())
	r.reads.Add(1)
	return r.n, nil
}

// receive makes one call that does not block; false if nothing is there yet.
func (r *receiver) receive(fd uintptr) bool {
	r.message.Iov, r.message.Iovlen = &r.vector, 1
	for {
		r.message.Control = (*byte)(unsafe.Pointer(&r.control))
		r.message.SetControllen(int(unsafe.Sizeof(r.control)))
		// It cannot block, so the scheduler need not hear of it.
		n, _, errno := syscall.RawSyscall(syscall.SYS_RECVMSG, fd, uintptr(unsafe.Pointer(&r.message)), syscall.MSG_DONTWAIT)
		switch errno {
		case syscall.EINTR:
			continue
		case syscall.EAGAIN:
			return false
		}
		r.n, r.errno = int(n), errno
		return true
	}
}

// stamped returns the receive time that came with the last read, 0 if none did.
func (r *receiver) stamped() int64 {
	h := &r.control.header
	if r.message.Controllen < uint64(unsafe.Sizeof(r.control)) ||
		h.Level != syscall.SOL_SOCKET || h.Type != syscall.SCM_TIMESTAMPNS {
		return 0
	}
	return r.control.time.Nano()
}

// holdStamps keeps the kernel stamping. It stamps while any socket wishes it, begins
// a moment after the first wish, and would so miss the first answers. The returned
// function ends it.
func holdStamps() (release func()) {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_DGRAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return func() {}
	}
	if err := syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_TIMESTAMPNS, 1); err != nil {
		syscall.Close(fd)
		return func() {}
	}
	return func() { syscall.Close(fd) }
}
