package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"kneesweep/config"
	"kneesweep/gate"
	"kneesweep/nightly"
	"kneesweep/record/history"
)

func nightlyCommand() *cli.Command {
	return &cli.Command{
		Name:  "nightly",
		Usage: "sweep at the times of a schedule, or once under the lock of the target (docs/nightly.md)",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "config", Usage: "settings of the sweep: `FILE`.yaml of sweep --config"},
			&cli.StringFlag{Name: "schedule", Usage: "`FIELDS` minute, hour, day, month, weekday: '30 2 * * *'"},
			&cli.StringFlag{Name: "tz", Usage: "time zone of the schedule, such as Europe/Berlin", DefaultText: "UTC"},
			&cli.DurationFlag{Name: "jitter", Usage: "delay each start by a random part of this"},
			&cli.StringFlag{Name: "name", Value: "nightly", Usage: "`NAME` of the job in the history"},
			&cli.GenericFlag{Name: "require", Value: &expressions{}, Usage: "`EXPR` that a good run meets, as in check (repeatable)"},
			&cli.StringFlag{Name: "jobs", Usage: "several jobs from `FILE`.yaml, in place of the flags above"},
			&cli.BoolFlag{Name: "once", Usage: "run now and end, for cron, systemd timers and Kubernetes CronJobs"},
			&cli.StringFlag{Name: "out", Value: "nightly", Usage: "`FOLDER` in which each run gets a folder"},
			&cli.StringFlag{Name: "metrics", Usage: "serve Prometheus metrics of the sweeps, also between them, at `ADDR`/metrics; beyond the loopback it asks for a token"},
			historyFlag(""),
		},
		Action: runNightly,
	}
}

// runNightly starts the jobs. In the one-shot mode its exit code is that of the
// sweep, or 3 when a gate does not hold.
func runNightly(c *cli.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	at, given, err := historyAddress(c)
	switch {
	case err != nil:
		return usage(err)
	case !given:
		return usagef("--history: needed, where runs and the locks of targets are kept: a file or postgres://…; or set %s", historyVariable)
	}
	described, err := nightlyJobs(c)
	if err != nil {
		return usage(err)
	}
	var jobs []nightly.Job
	var errs []error
	for _, d := range described {
		j, err := newJob(c, d, at)
		jobs, errs = append(jobs, j), append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return usage(err)
	}
	db, err := history.Open(c.Context, at, true)
	if err != nil {
		return failed(err)
	}
	defer db.Close()
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	l := &nightly.Loop{DB: db, Host: fmt.Sprintf("%s/%d", host, os.Getpid()), Log: slog.New(slog.NewTextHandler(c.App.ErrWriter, nil))}
	set, stop, err := startMetrics(c.String("metrics"), c.App.ErrWriter)
	if err != nil {
		return failed(err)
	}
	defer stop()
	c.Context = context.WithValue(c.Context, metricsKey{}, set)
	if c.Bool("once") {
		return once(c, l, jobs)
	}
	if err := l.Run(c.Context, jobs); err != nil {
		return failed(err)
	}
	if code, ok := interruptCode(c.Context); ok {
		return exitError{code, nil}
	}
	return nil
}

// once runs every job now, one after another, and returns the first failure.
func once(c *cli.Context, l *nightly.Loop, jobs []nightly.Job) (first error) {
	for _, j := range jobs {
		err := l.Once(c.Context, j, time.Now())
		if err != nil {
			l.Log.Error("failed", "job", j.Name, "err", err)
		}
		var e exitError
		if err != nil && !errors.As(err, &e) {
			err = failed(err)
		}
		if first == nil {
			first = err
		}
		if c.Context.Err() != nil {
			break
		}
	}
	return first
}

// nightlyJobs are the jobs that the flags or the file of --jobs describe.
func nightlyJobs(c *cli.Context) ([]config.Job, error) {
	if !c.IsSet("jobs") {
		if !c.IsSet("schedule") && !c.Bool("once") {
			return nil, errors.New("--schedule: needed, five cron fields such as '30 2 * * *'; or --once to run now, or --jobs FILE")
		}
		return []config.Job{{Name: c.String("name"), Schedule: c.String("schedule"), TZ: c.String("tz"), Delay: c.Duration("jitter"),
			Config: c.String("config"), Require: *c.Generic("require").(*expressions)}}, nil
	}
	for _, name := range []string{"config", "schedule", "tz", "jitter", "name", "require"} {
		if c.IsSet(name) {
			return nil, fmt.Errorf("--jobs and --%s: write it in the file, for each job", name)
		}
	}
	f, err := os.Open(c.String("jobs"))
	if err != nil {
		return nil, fmt.Errorf("--jobs: %s: %w", c.String("jobs"), bare(err))
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, config.MaxSize))
	if err != nil {
		return nil, fmt.Errorf("--jobs: %s: %w", c.String("jobs"), bare(err))
	}
	return config.ParseJobs(c.String("jobs"), data)
}

// newJob checks what a job needs before the first night.
func newJob(c *cli.Context, d config.Job, at history.Address) (j nightly.Job, err error) {
	j = nightly.Job{Name: d.Name, Jitter: d.Delay}
	if d.Schedule != "" {
		if j.Schedule, err = nightly.ParseSchedule(d.Schedule, d.TZ); err != nil {
			return j, fmt.Errorf("--schedule: job %s: %w", d.Name, err)
		}
	}
	if d.Delay < 0 {
		return j, fmt.Errorf("--jitter: %v is negative", d.Delay)
	}
	var gates []gate.Expr
	if len(d.Require) > 0 {
		if gates, err = parseGates(d.Require); err != nil {
			return j, err
		}
	}
	args := []string{"kneesweep", "sweep", "--quiet", "--history", nightlyAddress(c)}
	if d.Config != "" {
		args = append(args, "--config", d.Config)
	}
	if j.Target, err = lockedTarget(d.Config); err != nil {
		return j, err
	}
	if code := run(c.Context, append(args, "--dry-run"), io.Discard, c.App.ErrWriter); code != 0 {
		return j, fmt.Errorf("--config: job %s: the sweep cannot run so", d.Name)
	}
	base := c.String("out")
	j.Run = func(ctx context.Context, due time.Time) error {
		dir := filepath.Join(base, d.Name+"-"+due.UTC().Format("20060102-150405"))
		code := run(ctx, append(args, "--out", dir), io.Discard, c.App.ErrWriter)
		if code != 0 {
			return exitError{code, fmt.Errorf("the sweep ended with exit code %d; what it left is in %s", code, dir)}
		}
		return checkNight(ctx, dir, gates, at, c)
	}
	return j, nil
}

// nightlyAddress is the history as the sweep is given it.
func nightlyAddress(c *cli.Context) string {
	if c.IsSet("history") {
		return c.String("history")
	}
	return os.Getenv(historyVariable)
}

// checkNight holds the run in a folder against gates and the nights before it.
func checkNight(ctx context.Context, dir string, gates []gate.Expr, at history.Address, c *cli.Context) error {
	log := slog.New(slog.NewTextHandler(c.App.ErrWriter, nil))
	curve, doc, err := curveDocument([]string{dir}, c.App.ErrWriter)
	if err != nil {
		return err
	}
	v := evaluate(gates, doc)
	if err := v.judge(ctx, at, curve); err != nil {
		return failed(err)
	}
	log.Info("against the history", "verdict", v.History.Verdict, "said", v.History.Sentence)
	var e exitError
	if !errors.As(v.exit(), &e) {
		return nil
	}
	var why []string
	for _, r := range v.rows() {
		if r[0] != "holds" {
			why = append(why, strings.TrimSpace(r[0]+" "+r[1]+": "+r[2]))
		}
	}
	return exitError{e.code, errors.New(strings.Join(why, "; "))}
}

// lockedTarget is the address that a file of settings names, or the environment,
// without what may hold a secret: what no two hosts sweep at once.
func lockedTarget(path string) (string, error) {
	address := os.Getenv(baseURLVariable)
	if path != "" {
		settings, err := readConfig(path)
		if err != nil {
			return "", err
		}
		for _, s := range settings {
			if s.Key.Name == "url" {
				address = s.Values[0]
			}
		}
	}
	if address == "" {
		host, _ := os.Hostname() // each host has an embedded endpoint of its own
		return "embedded simulated endpoint of " + host, nil
	}
	u, err := url.Parse(address)
	if err != nil {
		return "", errors.New("url: not a URL")
	}
	return strings.ToLower(u.Scheme+"://"+u.Host) + strings.TrimRight(u.Path, "/"), nil
}
