package pipe_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"kneesweep/sim/pipe"
)

// pair returns both ends of one connection of a network.
func pair(t *testing.T, cfg pipe.Config) (client, server net.Conn) {
	t.Helper()
	n := pipe.Listen(cfg)
	t.Cleanup(func() { _ = n.Close() })
	got := make(chan net.Conn, 1)
	go func() {
		c, err := n.Accept()
		if err == nil {
			got <- c
		}
	}()
	client, err := n.Dial(context.Background(), "tcp", "any:1")
	if err != nil {
		t.Fatal(err)
	}
	server = <-got
	t.Cleanup(func() { _ = client.Close(); _ = server.Close() })
	return client, server
}

func TestDelayAndBandwidthAreExact(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := pair(t, pipe.Config{Delay: 5 * time.Millisecond, Bandwidth: 1000})
		start := time.Now()
		if _, err := server.Write(make([]byte, 100)); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(client, make([]byte, 100)); err != nil {
			t.Fatal(err)
		}
		if got, want := time.Since(start), 105*time.Millisecond; got != want {
			t.Errorf("100 bytes at 1000 bytes/s and 5 ms took %v, want %v", got, want)
		}
	})
}

func TestTheDownlinkIsShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := pipe.Listen(pipe.Config{Bandwidth: 1000})
		defer n.Close()
		start := time.Now()
		done := make(chan time.Duration, 2)
		for range 2 {
			go func() {
				c, err := n.Accept()
				if err != nil {
					return
				}
				_, _ = c.Write(make([]byte, 500))
				_ = c.Close()
			}()
		}
		for range 2 {
			c, err := n.Dial(t.Context(), "tcp", "x")
			if err != nil {
				t.Fatal(err)
			}
			go func() {
				_, _ = io.Copy(io.Discard, c)
				done <- time.Since(start)
			}()
		}
		if a, b := <-done, <-done; a != 500*time.Millisecond || b != time.Second {
			t.Errorf("two streams of 500 bytes over one 1000 bytes/s line ended at %v and %v", a, b)
		}
	})
}

func TestBackPressureDeadlineAndClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := pair(t, pipe.Config{Buffer: 10})
		_ = server.SetWriteDeadline(time.Now().Add(time.Second))
		n, err := server.Write(make([]byte, 25))
		if n != 10 || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("a full buffer took %d bytes, %v", n, err)
		}
		_ = server.Close()
		got, err := io.ReadAll(client)
		if len(got) != 10 || err != nil {
			t.Errorf("after the peer closed: %d bytes, %v; want the 10 that were sent and EOF", len(got), err)
		}
		_ = client.SetReadDeadline(time.Now().Add(-1))
		if _, err := client.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("read after its deadline: %v", err)
		}
		if _, err := client.Write([]byte("x")); !errors.Is(err, syscall.EPIPE) {
			t.Errorf("write to a closed peer: %v", err)
		}
	})
}

func TestDialWithoutListenerIsRefused(t *testing.T) {
	n := pipe.Listen(pipe.Config{})
	_ = n.Close()
	if _, err := n.Dial(context.Background(), "tcp", "x"); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("got %v", err)
	}
}

func TestServesHTTPInVirtualTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := pipe.Listen(pipe.Config{Delay: time.Millisecond})
		srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			time.Sleep(time.Hour)
			_, _ = io.WriteString(w, "ok")
		})}
		go func() { _ = srv.Serve(n) }()
		c := &http.Client{Transport: &http.Transport{DialContext: n.Dial}}
		start := time.Now()
		resp, err := c.Get("http://sim/")
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if string(body) != "ok" || err != nil {
			t.Errorf("got %q, %v", body, err)
		}
		if got, want := time.Since(start), time.Hour+2*time.Millisecond; got != want {
			t.Errorf("took %v of virtual time, want %v", got, want)
		}
		c.CloseIdleConnections()
		_ = srv.Close()
	})
}
