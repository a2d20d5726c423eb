package client

import (
	"strings"

	"kneesweep/load"
)

// This file is the wire dialect of /v1/completions, which differs from chat in how it
// is asked; its answers are read in chat.go.

// textPrompt asks with one text: the turns one below the other, without their roles.
func textPrompt(b *body, p load.Prompt) {
	var texts []string
	for _, m := range p.Messages {
		texts = append(texts, m.Content)
	}
	b.add("prompt", strings.Join(texts, "\n\n"))
}
