package main

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"kneesweep/workload"
)

func targetsFlag(category string) cli.Flag {
	return &cli.StringSliceFlag{Category: category, Name: "target", Usage: "one of several endpoints that are swept in turn and compared, `NAME=URL`[,model=M][,key-env=VARIABLE][,header=K: V] (repeatable)"}
}

// namedTarget is one of several endpoints of a sweep.
type namedTarget struct {
	name string
	target
}

var (
	targetName   = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,31}$`)
	targetOption = regexp.MustCompile(`,\s*(model|key-env|header)=`)
	otherOption  = regexp.MustCompile(`,\s*([A-Za-z_-]{1,20})=`)
)

const targetShape = "write NAME=URL, then what differs from the other flags: ,model=NAME ,key-env=VARIABLE ,header=Name: value"

// newTargets reads --target. A key that is not asked for goes to none of them: the
// default variable may hold that of another server.
func newTargets(c *cli.Context, connections int) ([]namedTarget, error) {
	values := c.StringSlice("target")
	errs := []error{checkTargets(c, len(values)), checkTimeouts(c)}
	shared, err := parseHeaders(c.StringSlice("header"))
	errs = append(errs, err)
	key := ""
	if c.IsSet("api-key-env") || c.String("api-key") != "" {
		key, err = apiKey(c, c.App.ErrWriter)
		errs = append(errs, err)
	}
	var all []namedTarget
	keyless := false
	for i, value := range values {
		name, a, err := parseTarget(value)
		if err != nil {
			errs = append(errs, fmt.Errorf("--target: number %d: %s", i+1, strings.TrimPrefix(err.Error(), "--target: ")))
			continue
		}
		for k, list := range shared {
			if a.headers[k] == nil {
				a.headers[k] = list
			}
		}
		if a.key == "" {
			a.key, keyless = key, keyless || key == ""
		}
		if a.model == "" {
			a.model = c.String("model")
		}
		t, problems := targetAt(c, a, connections)
		if a.model == "" {
			problems = append(problems, fmt.Errorf("--target: %s: no model; add ,model=NAME, or --model for all", name))
		}
		if slices.ContainsFunc(all, func(n namedTarget) bool { return strings.EqualFold(n.name, name) }) {
			problems = append(problems, fmt.Errorf("--target: %s: two have this name, and each needs a folder of its own", name))
		}
		problems = append(problems, aboutTarget(name, t.config.Validate()))
		errs = append(errs, problems...)
		t.vary(uint64(i))
		all = append(all, namedTarget{name, t})
	}
	if err := distinct(errs); err != nil {
		return nil, err
	}
	if keyless && os.Getenv(c.String("api-key-env")) != "" {
		fmt.Fprintf(c.App.ErrWriter, "hint: --target: the key in %s is sent to no target that does not ask for it; add ,key-env=%[1]s, or --api-key-env %[1]s for all\n", c.String("api-key-env"))
	}
	all[0].warnInsecure(c.App.ErrWriter)
	return all, nil
}

// checkTargets refuses what does not go together with several targets.
func checkTargets(c *cli.Context, count int) error {
	var errs []error
	bad := func(cond bool, text string) {
		if cond {
			errs = append(errs, errors.New(text))
		}
	}
	bad(count == 1, "--target: needs another one to compare with; for one endpoint use --url")
	bad(c.IsSet("url") && !sourcesOf(c).environment, "--target and --url: give one of them")
	bad(c.IsSet("label"), "--target and --label: the names of the targets are their labels")
	bad(c.Bool("confirm"), "--target and --confirm: sweep the endpoint of interest by itself to confirm it")
	m := c.String("metrics")
	bad(m != metricsAuto && m != metricsOff, "--target and --metrics: give auto or off; an address is that of one server")
	return errors.Join(errs...)
}

// parseTarget reads one value of --target. Its errors show no part of it that may
// hold a secret.
func parseTarget(value string) (name string, a address, err error) {
	name, rest, ok := strings.Cut(value, "=")
	name = strings.TrimSpace(name)
	switch {
	case !ok:
		return "", a, errors.New("not NAME=URL; " + targetShape)
	case !targetName.MatchString(name):
		return "", a, errors.New("the name before the first = must be made of at most 32 letters, digits, dots, - and _, for it names a folder; " + targetShape)
	case slices.Contains(slices.Concat(runFiles, targetsFiles), name):
		return "", a, fmt.Errorf("the name %s is that of a file beside the folders of the targets; choose another", name)
	}
	at := targetOption.FindAllStringSubmatchIndex(rest, -1)
	end := len(rest)
	var headers []string
	for _, m := range slices.Backward(at) {
		option, text := rest[m[2]:m[3]], strings.TrimSpace(rest[m[1]:end])
		end = m[0]
		switch {
		case text == "":
			err = fmt.Errorf("%s: %s= is empty", name, option)
		case option == "header":
			headers = append(headers, text)
			continue
		case option == "model":
			a.model = text
		default:
			a.key, err = keyOf(name, text)
		}
		if m := otherOption.FindStringSubmatch(text); m != nil {
			err = unknownOption(name, m[1])
		}
		if err != nil {
			return name, a, err
		}
	}
	a.url = strings.TrimSpace(rest[:end])
	if m := otherOption.FindStringSubmatch(a.url); m != nil {
		return name, a, unknownOption(name, m[1])
	}
	if a.url == "" {
		return name, a, fmt.Errorf("%s: no address; %s", name, targetShape)
	}
	slices.Reverse(headers)
	a.headers, err = parseHeaders(headers)
	return name, a, aboutTarget(name, err)
}

func unknownOption(name, option string) error {
	return fmt.Errorf("%s: there is no option %s=; there are model=, key-env= and header= (a comma in an address is written %%2C)", name, option)
}

// keyOf reads the key of a target from the environment.
func keyOf(name, variable string) (string, error) {
	switch key := os.Getenv(variable); {
	case key != "":
		return key, nil
	case !conventional.MatchString(variable): // perhaps the key itself: not shown
		return "", fmt.Errorf("%s: key-env: there is no such environment variable; give the name of one, not the key", name)
	default:
		return "", fmt.Errorf("%s: key-env: the environment variable %s is empty", name, variable)
	}
}

var ownFlag = regexp.MustCompile(`(?m)^--(url|header|api-key-env): `)

// aboutTarget names the target in what is said of its address, headers and key.
func aboutTarget(name string, err error) error {
	if err == nil {
		return nil
	}
	text := ownFlag.ReplaceAllString(err.Error(), "--target: "+name+": $1: ")
	return errors.New(text)
}

// distinct joins errors, each line once: what all targets have in common is wrong
// with each of them.
func distinct(errs []error) error {
	err := errors.Join(errs...)
	if err == nil {
		return nil
	}
	var lines []error
	seen := map[string]bool{}
	for line := range strings.SplitSeq(err.Error(), "\n") {
		if !seen[line] {
			seen[line] = true
			lines = append(lines, errors.New(line))
		}
	}
	return errors.Join(lines...)
}

// vary gives target i prompts of its own, of the same lengths: behind two addresses
// may be one cache, which would answer for whoever is asked second.
func (t *target) vary(i uint64) {
	t.config.Seed += i
	t.source = onSynthetic(t.source, func(s workload.Synthetic) workload.Synthetic {
		s.Seed += i
		return s
	})
}
