package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"kneesweep/ceiling"
	"kneesweep/sweep"
)

// sourceCommandName is the hidden command that the token source runs as.
const sourceCommandName = "ceiling-source"

func shapeFlags() []cli.Flag {
	return []cli.Flag{
		&cli.DurationFlag{Name: "interval", Value: 20 * time.Millisecond, Usage: "time between two tokens of a stream"},
		&cli.IntFlag{Name: "tokens", Value: 128, Usage: "tokens of an answer"},
		&cli.StringFlag{Name: "mode", Value: "spread", Usage: "spread: each stream gets its tokens at times of its own; burst: all at once, as from an engine's step"},
	}
}

func newShape(c *cli.Context) (ceiling.Shape, error) {
	mode := c.String("mode")
	s := ceiling.Shape{Interval: c.Duration("interval"), Tokens: c.Int("tokens"), Burst: mode == "burst"}
	err := s.Validate()
	if mode != "spread" && mode != "burst" {
		err = errors.Join(err, fmt.Errorf("--mode: %q, need spread or burst", mode))
	}
	return s, err
}

func ceilingCommand() *cli.Command {
	return &cli.Command{
		Name:  "ceiling",
		Usage: "measure what the client of this machine can hold, against a token source on loopback",
		Flags: append(shapeFlags(),
			&cli.StringFlag{Name: "levels", Value: "1,10,100,1000,10000", Usage: "`LIST` of numbers of streams; ends when two in a row do not hold"},
			&cli.Float64Flag{Name: "seconds", Value: 3, Usage: "measured time of a level, after every stream had an answer"},
			&cli.BoolFlag{Name: "json", Usage: "print one JSON document instead of the table"},
		),
		Action: func(c *cli.Context) error {
			if err := noArguments(c); err != nil {
				return err
			}
			return runCeiling(c)
		},
	}
}

// sourceCommand is the other end of ceiling, in a process of its own so that its
// cost is not the client's. It ends when its standard input does, and so whenever
// its parent is gone.
func sourceCommand() *cli.Command {
	return &cli.Command{
		Name: sourceCommandName, Hidden: true, Flags: shapeFlags(),
		Action: func(c *cli.Context) error {
			shape, err := newShape(c)
			if err != nil {
				return usage(err)
			}
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				return failed(err)
			}
			if _, err := fmt.Fprintln(c.App.Writer, l.Addr()); err != nil {
				return failed(errors.Join(err, l.Close()))
			}
			ctx, cancel := context.WithCancel(c.Context)
			go func() {
				_, _ = io.Copy(io.Discard, os.Stdin)
				cancel()
			}()
			ceiling.Serve(ctx, l, shape)
			return nil
		},
	}
}

func runCeiling(c *cli.Context) error {
	shape, shapeErr := newShape(c)
	levels, levelsErr := sweep.ParseLevels(c.String("levels"))
	err := errors.Join(shapeErr, levelsErr)
	if s := c.Float64("seconds"); !(s >= 0.1 && s <= 600) {
		err = errors.Join(err, fmt.Errorf("--seconds: %g, need 0.1 to 600", s))
	}
	if err != nil {
		return usage(err)
	}
	url, stop, err := startSource(c.Context, shape)
	if code, ok := interruptCode(c.Context); ok && err != nil {
		return exitError{code, nil}
	}
	if err != nil {
		return failed(err)
	}
	account := ceiling.Account{Shape: shape}
	span := time.Duration(c.Float64("seconds") * float64(time.Second))
	for i, n := range levels {
		var l ceiling.Level
		if l, err = tryLevel(c, url, n, shape, span); err != nil {
			break
		}
		account.Levels = append(account.Levels, l)
		if ceiling.Over(account.Levels) {
			account.Left = levels[i+1:]
			break
		}
	}
	err = errors.Join(err, stop())
	if code, ok := interruptCode(c.Context); ok {
		return exitError{code, nil}
	}
	if err != nil {
		return failed(err)
	}
	if c.Bool("json") {
		return outputError(account.JSON(c.App.Writer))
	}
	return outputError(account.Table(c.App.Writer))
}

// tryLevel measures a level; one that this process may not open so many files for is
// one that the machine does not hold.
func tryLevel(c *cli.Context, url string, n int, shape ceiling.Shape, span time.Duration) (ceiling.Level, error) {
	if err := checkConnections(n, 1); err != nil {
		return ceiling.Level{Streams: n, Limits: []string{strings.TrimPrefix(err.Error(), "--levels: ")}}, nil
	}
	fmt.Fprintf(c.App.ErrWriter, "measuring %d streams\n", n)
	return ceiling.Measure(c.Context, url, n, shape, span)
}

// startSource runs the token source. It is gone when stop returns, and soon after ctx
// ends.
func startSource(ctx context.Context, shape ceiling.Shape) (url string, stop func() error, err error) {
	self, err := os.Executable()
	if err != nil {
		return "", nil, err
	}
	mode := "spread"
	if shape.Burst {
		mode = "burst"
	}
	ctx, cancel := context.WithCancel(ctx)
	cmd := exec.CommandContext(ctx, self, sourceCommandName, "--interval", shape.Interval.String(), "--tokens", fmt.Sprint(shape.Tokens), "--mode", mode)
	cmd.WaitDelay = time.Second
	stdin, err := cmd.StdinPipe()
	if err != nil {
		cancel()
		return "", nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		cancel()
		return "", nil, err
	}
	stop = func() error {
		_ = stdin.Close() // it ends by itself; if not, it is killed, which is no fault of its figures
		t := time.AfterFunc(5*time.Second, cancel)
		defer t.Stop()
		err := cmd.Wait()
		killed := ctx.Err() != nil
		cancel()
		if err != nil && !killed {
			return fmt.Errorf("token source: %w", err)
		}
		return nil
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		return "", nil, errors.Join(fmt.Errorf("the token source did not begin: %w", err), stop())
	}
	return "http://" + strings.TrimSpace(line) + "/v1", stop, nil
}
