package main

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"github.com/urfave/cli/v2"

	"kneesweep/client"
	"kneesweep/internal/secret"
)

// dialectFlags say in which wire format is asked, and what a request holds.
func dialectFlags(category string) []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Category: category, Name: "dialect", Value: string(client.Chat), Usage: "wire `FORMAT` of the endpoint: chat, completions, responses or anthropic"},
		&cli.StringFlag{Category: category, Name: "auth", DefaultText: "bearer; x-api-key in the anthropic dialect", Usage: "send the key as `HEADER`: bearer, api-key, x-api-key or none"},
		&cli.BoolFlag{Category: category, Name: "no-stream", Usage: "ask for whole answers instead of streams"},
		&cli.StringSliceFlag{Category: category, Name: "omit-field", Usage: "leave `NAME` out of the request body (repeatable)"},
		&cli.StringFlag{Category: category, Name: "max-tokens-field", DefaultText: "max_tokens; max_output_tokens in the responses dialect", Usage: "`NAME` of the field that limits the answer"},
		&cli.BoolFlag{Category: category, Name: "ignore-eos", Usage: "ask the server to generate up to the limit"},
		&cli.IntFlag{Category: category, Name: "min-tokens", Usage: "ask the server for at least so many `TOKENS`; 0 = not asked for"},
		&cli.StringSliceFlag{Category: category, Name: "record-header", Usage: "keep the response header `NAME` of every answer, such as one that says which region or replica answered (repeatable)"},
		&cli.StringFlag{Category: category, Name: "body", Usage: "add the fields of a JSON `OBJECT` to every request, e.g. '{\"temperature\":0}'"},
	}
}

// ask fills in what is asked for in which format.
func ask(c *cli.Context, config *client.Config) {
	config.Dialect = cmp.Or(client.Dialect(c.String("dialect")), client.Chat)
	config.Auth = client.Auth(c.String("auth"))
	config.NoStream, config.OmitFields = c.Bool("no-stream"), c.StringSlice("omit-field")
	config.MaxTokensField = c.String("max-tokens-field")
	config.IgnoreEOS, config.MinTokens = c.Bool("ignore-eos"), c.Int("min-tokens")
	config.RecordHeaders = c.StringSlice("record-header")
	config.Body = strings.TrimSpace(c.String("body"))
	config.Secrets = append(config.Secrets, secret.FromJSON([]byte(config.Body))...)
}

// checkLeast compares the least answer with the longest one; 0 = lines of a file
// have their own.
func checkLeast(least, longest int) error {
	if longest > 0 && least > longest {
		return fmt.Errorf("--min-tokens: %d is more than the longest answer, %d; raise --output-tokens", least, longest)
	}
	return nil
}

// refusedField finds the field of our request that an error text names, and the flag
// that changes it. The model and the prompt, which cannot be left out, are not looked
// for.
func refusedField(text string, config *client.Config) string {
	limit := "--max-tokens-field max_completion_tokens, or --omit-field max_tokens"
	switch config.Dialect {
	case client.Anthropic: // it wants a limit, under this name
		limit = "another --output-tokens, without --omit-field and --max-tokens-field"
	case client.Responses:
		limit = "without --max-tokens-field"
	}
	for _, f := range []struct{ name, flag string }{
		{"stream_options", "--omit-field stream_options"},
		{"ignore_eos", "without --ignore-eos"},
		{"min_tokens", "without --min-tokens"}, // perhaps compared with the limit
		{"max_completion_tokens", "--max-tokens-field max_completion_tokens (or max_tokens, if that is what was sent)"},
		{"max_output_tokens", "another --output-tokens (some servers want 16 at least), or --omit-field max_output_tokens"},
		{"max_tokens", limit},
	} {
		if strings.Contains(text, f.name) {
			return f.flag
		}
	}
	for _, name := range config.BodyNames() {
		if word, err := regexp.MatchString(`\b`+regexp.QuoteMeta(name)+`\b`, text); err == nil && word && name != "" {
			return fmt.Sprintf("--body without %.40q", name)
		}
	}
	return ""
}
