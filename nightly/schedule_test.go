package nightly

import (
	"strings"
	"testing"
	"time"
)

// TestNext: each reading of the wall clock is due once, whatever the clock does.
func TestNext(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, fields, zone, after string
		want                      []string
	}{
		{"every night", "30 2 * * *", "", "2026-01-01T00:00:00Z", []string{"2026-01-01T02:30:00Z", "2026-01-02T02:30:00Z"}},
		{"due now is not after now", "30 2 * * *", "", "2026-01-01T02:30:00Z", []string{"2026-01-02T02:30:00Z"}},
		{"in a place", "30 2 * * *", "Europe/Berlin", "2026-01-01T00:00:00Z", []string{"2026-01-01T01:30:00Z"}},
		{"the clock jumps over 02:30", "30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", []string{"2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z"}},
		{"the clock shows 02:30 twice", "30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", []string{"2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"}},
		{"a jump at midnight", "0 0 * * *", "America/Santiago", "2026-09-05T12:00:00Z", []string{"2026-09-06T04:00:00Z", "2026-09-07T03:00:00Z"}},
		{"twice in the west", "30 1 * * *", "America/New_York", "2026-10-31T12:00:00Z", []string{"2026-11-01T05:30:00Z", "2026-11-02T06:30:00Z"}},
		{"jump of half an hour", "15 2 * * *", "Australia/Lord_Howe", "2026-10-03T00:00:00Z", []string{"2026-10-03T15:30:00Z", "2026-10-04T15:15:00Z"}},
		{"hourly over a jump", "30 * * * *", "Europe/Berlin", "2026-03-29T00:00:00Z", []string{"2026-03-29T00:30:00Z", "2026-03-29T01:00:00Z", "2026-03-29T01:30:00Z"}},
		{"weekdays", "0 3 * * 1-5", "Asia/Tokyo", "2026-01-02T00:00:00Z", []string{"2026-01-04T18:00:00Z"}},
	} {
		s, err := ParseSchedule(c.fields, c.zone)
		if err != nil {
			t.Fatal(err)
		}
		at, err := time.Parse(time.RFC3339, c.after)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range c.want {
			at = s.Next(at)
			if got := at.UTC().Format(time.RFC3339); got != want {
				t.Errorf("%s: %s, want %s", c.name, got, want)
			}
		}
	}
}

// TestNextOverYears: a nightly job is due once on every date of ten years, wherever.
func TestNextOverYears(t *testing.T) {
	t.Parallel()
	for _, zone := range []string{"", "Europe/Berlin", "America/New_York", "America/Santiago", "Australia/Lord_Howe", "Asia/Kolkata", "Africa/Casablanca"} {
		s, err := ParseSchedule("30 2 * * *", zone)
		if err != nil {
			t.Fatal(err)
		}
		at := time.Date(2020, 1, 1, 12, 0, 0, 0, time.UTC)
		want := at.In(s.place)
		for range 3650 {
			at, want = s.Next(at), want.AddDate(0, 0, 1)
			if got := at.In(s.place); got.YearDay() != want.YearDay() || got.Hour() != 2 && got.Hour() != 3 {
				t.Fatalf("%s: %v, want the night of %v", zone, got, want.Format(time.DateOnly))
			}
		}
	}
}

func TestParseSchedule(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ fields, zone, want string }{
		{"", "", "write MINUTE HOUR DAY MONTH WEEKDAY"}, {"* * * *", "", "write MINUTE"}, {"61 2 * * *", "", "write MINUTE"}, {"0 30 2 * * *", "", "write MINUTE"},
		{"@daily", "", "needs the five fields"}, {"TZ=UTC 30 2 * * *", "", "needs the five fields"}, {"0 0 30 2 *", "", "never due"},
		{"30 2 * * *", "Mars/Olympus", "no time zone"}, {"30 2 * * *", "Local", "no time zone"}, {"30 2 * * *", "../etc/passwd", "no time zone"},
	} {
		if _, err := ParseSchedule(c.fields, c.zone); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q %q: %v, want %s", c.fields, c.zone, err, c.want)
		}
	}
}
