// Package nightly starts sweeps by the clock: at the times of a schedule, one at a
// time, and never two of one target at once, on whatever hosts.
package nightly

import (
	"errors"
	"fmt"
	"strings"
	"time"
	_ "time/tzdata" // containers have no zones of their own

	"github.com/robfig/cron/v3"
)

// Schedule says when a job is due, in the wall clock of a place. It is immutable.
type Schedule struct {
	fields cron.Schedule
	place  *time.Location
}

// ParseSchedule reads five cron fields (minute, hour, day of month, month, day of
// week) and the name of a time zone; an empty one is UTC.
func ParseSchedule(fields, zone string) (Schedule, error) {
	if strings.Contains(fields, "TZ=") || strings.HasPrefix(strings.TrimSpace(fields), "@") {
		return Schedule{}, errors.New("needs the five fields MINUTE HOUR DAY MONTH WEEKDAY, such as '30 2 * * *'; a time zone has a setting of its own")
	}
	parsed, err := cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow).Parse(fields)
	if err != nil {
		return Schedule{}, fmt.Errorf("%.60q: %w; write MINUTE HOUR DAY MONTH WEEKDAY, such as '30 2 * * *'", fields, err)
	}
	place, err := time.LoadLocation(zone)
	if err != nil || zone == "Local" {
		return Schedule{}, fmt.Errorf("%.60q is no time zone; write one such as Europe/Berlin", zone)
	}
	s := Schedule{parsed, place}
	if s.Next(time.Date(2024, 1, 1, 0, 0, 0, 0, place)).IsZero() {
		return Schedule{}, fmt.Errorf("%.60q is never due", fields)
	}
	return s, nil
}

// Next returns the first due time after t; zero when there is none. Each reading of
// the wall clock counts once: one that the clock jumps over is due when it has
// jumped, and of one that it shows twice the first counts.
func (s Schedule) Next(t time.Time) time.Time {
	local := t.In(s.place)
	// The fields are matched in UTC, which never jumps, against readings of the clock.
	wall := time.Date(local.Year(), local.Month(), local.Day(), local.Hour(), local.Minute(), local.Second(), 0, time.UTC)
	for {
		wall = s.fields.Next(wall)
		if wall.IsZero() {
			return time.Time{}
		}
		if at := s.instant(wall); at.After(t) {
			return at
		}
	}
}

// instant is when the clock of the place shows a reading.
func (s Schedule) instant(wall time.Time) time.Time {
	at := time.Date(wall.Year(), wall.Month(), wall.Day(), wall.Hour(), wall.Minute(), 0, 0, s.place)
	from, to := at.ZoneBounds()
	shown := time.Date(at.Year(), at.Month(), at.Day(), at.Hour(), at.Minute(), 0, 0, time.UTC)
	switch {
	case shown.After(wall): // the clock jumped over it; at is beyond the jump
		return from
	case shown.Before(wall):
		return to
	case from.IsZero():
		return at
	}
	_, now := at.Zone()
	_, before := from.Add(-time.Second).Zone()
	if first := at.Add(time.Duration(now-before) * time.Second); first.Before(from) && first.Before(at) {
		return first // shown twice
	}
	return at
}
