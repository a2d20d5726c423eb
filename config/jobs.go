package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// Job is a scheduled sweep, as a file of jobs says it. What the texts mean is the
// caller's business.
type Job struct {
	Name     string        `yaml:"name"`
	Schedule string        `yaml:"schedule"`
	TZ       string        `yaml:"tz"`
	Jitter   string        `yaml:"jitter"`
	Config   string        `yaml:"config"`
	Require  []string      `yaml:"require"`
	Delay    time.Duration `yaml:"-"` // that of Jitter
}

// ParseJobs reads a YAML map with the one key jobs, a list. file is its name in
// errors. Every job has a name of its own, and a schedule.
func ParseJobs(file string, data []byte) ([]Job, error) {
	var doc struct {
		Jobs []Job `yaml:"jobs"`
	}
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true)
	if err := d.Decode(&doc); err != nil && !errors.Is(err, io.EOF) {
		text := strings.NewReplacer("yaml: ", "", "unmarshal errors:\n  ", "", " in type config.Job", "", "\n  ", "; ").Replace(err.Error())
		return nil, fmt.Errorf("%s: %s; a job has name, schedule, tz, jitter, config and require", file, text)
	}
	if len(doc.Jobs) == 0 {
		return nil, fmt.Errorf("%s: no jobs; write a list jobs: with name, schedule and config", file)
	}
	var errs []error
	seen := map[string]bool{}
	for i := range doc.Jobs {
		j := &doc.Jobs[i]
		bad := func(format string, args ...any) {
			errs = append(errs, fmt.Errorf("%s: jobs[%d]: "+format, append([]any{file, i}, args...)...))
		}
		if !plausible.MatchString(j.Name) {
			bad("name: %.40q, want letters, digits, - and _, at most 31, a letter first", j.Name)
		}
		if seen[j.Name] {
			bad("name: %q is that of another job", j.Name)
		}
		seen[j.Name] = true
		if j.Schedule == "" {
			bad("schedule: needed, five cron fields such as '30 2 * * *'")
		}
		if j.Jitter != "" {
			var err error
			if j.Delay, err = time.ParseDuration(j.Jitter); err != nil || j.Delay < 0 {
				bad("jitter: %.40q is not %s", j.Jitter, Duration)
			}
		}
	}
	return doc.Jobs, errors.Join(errs...)
}
