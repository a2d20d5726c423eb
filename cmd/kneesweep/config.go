package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"kneesweep/config"
)

// baseURLVariable is the environment's --url.
const baseURLVariable = "OPENAI_BASE_URL"

// joinedFlags take several values in one text; a file may hold them as a list.
var joinedFlags = []string{"levels", "rates", "slo"}

func configFlag(category string) cli.Flag {
	return &cli.StringFlag{Category: category, Name: "config", Usage: "take the settings of `FILE`.yaml that are not given as flags"}
}

// configured wraps an action: flags that the command line does not give are set
// from the file of --config, then from the environment, as if they had been given.
// An error about a value of the file names its place there.
func configured(action cli.ActionFunc) cli.ActionFunc {
	return func(c *cli.Context) error {
		if err := noArguments(c); err != nil { // its advice is about the command line
			return err
		}
		s := &sources{file: map[string]config.Setting{}}
		if err := s.apply(c); err != nil {
			return usage(err)
		}
		c.App.Metadata[sourcesKey] = s
		return s.locate(action(c))
	}
}

const sourcesKey = "sources"

// sources say where the values of flags come from that the command line does not
// give. The zero sources say that there are none.
type sources struct {
	file        map[string]config.Setting // by the name of the flag that errors name
	environment bool                      // the address is that of OPENAI_BASE_URL
	secrets     []string                  // what ${NAME} in the file stands for
}

func sourcesOf(c *cli.Context) *sources {
	if s, ok := c.App.Metadata[sourcesKey].(*sources); ok {
		return s
	}
	return &sources{}
}

// apply sets the flags. The command line wins over the file, the file over the
// environment.
func (s *sources) apply(c *cli.Context) error {
	otherKey := c.IsSet("api-key-env")
	if c.IsSet("config") {
		settings, err := readConfig(c.String("config"))
		if err != nil {
			return err
		}
		var errs []error
		for _, setting := range settings {
			name := setting.Key.Name
			f := flagNamed(c.Command.Flags, name)
			// A file is shared by commands; each takes the flags that it has.
			if f == nil || c.IsSet(name) || name == "api-key" && otherKey {
				continue
			}
			errs = append(errs, s.set(c, f, setting))
		}
		if err := errors.Join(errs...); err != nil {
			return err
		}
	}
	if address := os.Getenv(baseURLVariable); address != "" && !c.IsSet("url") {
		s.environment = true
		return c.Set("url", address)
	}
	return nil
}

// set gives a flag the values of a setting.
func (s *sources) set(c *cli.Context, f cli.Flag, setting config.Setting) error {
	values, secrets, err := setting.Expand(os.Getenv)
	if err != nil {
		return err
	}
	if _, repeatable := f.(*cli.StringSliceFlag); !repeatable {
		values = []string{strings.Join(values, ",")}
	}
	name := setting.Key.Name
	for _, v := range values {
		if c.Set(name, v) != nil { // what it says may hold the value
			return fmt.Errorf("%s: %s: not %s", setting.At, name, setting.Key.Kind)
		}
	}
	s.secrets = append(s.secrets, secrets...)
	s.file[name] = setting
	if name == "api-key" {
		s.file["api-key-env"] = setting // what is said of the key names this flag, which is then not read
	}
	return nil
}

// readConfig reads the settings that any command may take: those of sweep.
func readConfig(path string) ([]config.Setting, error) {
	const want = "give a YAML file of settings"
	if path == "" {
		return nil, errors.New("--config: the name is empty; " + want)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("--config: %s: %w; %s", path, bare(err), want)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, config.MaxSize+1))
	if err != nil {
		return nil, fmt.Errorf("--config: %s: %w; %s", path, bare(err), want)
	}
	return config.Parse(path, data, configKeys(sweepCommand().Flags))
}

// configKeys are the keys of a file: the flags, except the one that names the file.
func configKeys(flags []cli.Flag) []config.Key {
	var keys []config.Key
	for _, f := range flags {
		name := f.Names()[0]
		if name == "config" {
			continue
		}
		_, repeatable := f.(*cli.StringSliceFlag)
		keys = append(keys, config.Key{
			Name: name, Kind: kindOf(f), List: repeatable || slices.Contains(joinedFlags, name),
			Map: name == "header" || name == "matrix", Grid: name == "matrix", Secret: slices.Contains(secretKeys, name),
		})
	}
	return keys
}

// kindOf is the kind of value that a flag takes.
func kindOf(f cli.Flag) config.Kind {
	switch f.(type) {
	case *cli.BoolFlag:
		return config.Bool
	case *cli.IntFlag:
		return config.Int
	case *cli.Uint64Flag:
		return config.Uint
	case *cli.Float64Flag:
		return config.Number
	case *cli.DurationFlag:
		return config.Duration
	}
	return config.Text
}

func flagNamed(flags []cli.Flag, name string) cli.Flag {
	for _, f := range flags {
		if slices.Contains(f.Names(), name) {
			return f
		}
	}
	return nil
}

var (
	// named are the flags at the beginning of a line of an error.
	named   = regexp.MustCompile(`(?m)^--[a-z-]+(?: and --[a-z-]+)?:`)
	oneFlag = regexp.MustCompile(`--[a-z-]+`)
)

// locate names the place in the file where an error is about a value from there.
func (s *sources) locate(err error) error {
	var e exitError
	if len(s.file) == 0 || !errors.As(err, &e) || e.err == nil {
		return err
	}
	text := named.ReplaceAllStringFunc(e.err.Error(), func(flags string) string {
		return oneFlag.ReplaceAllStringFunc(flags, s.where)
	})
	return exitError{e.code, errors.New(text)}
}

// where is a flag, or the place and the key in the file that stand for it.
func (s *sources) where(flag string) string {
	if setting, ok := s.file[strings.TrimPrefix(flag, "--")]; ok {
		return setting.At + ": " + setting.Key.Name
	}
	return flag
}

// keyHint is what to say of a key that others may see, a line or nothing.
func (s *sources) keyHint() string {
	setting, fromFile := s.file["api-key"]
	switch {
	case !fromFile:
		return "hint: --api-key is visible to other users of this machine; --api-key-env is not\n"
	case !strings.Contains(setting.Values[0], "${"):
		return "hint: " + setting.At + ": api-key: whoever may read the file can read the key; write ${NAME}, or use api-key-env\n"
	}
	return ""
}
