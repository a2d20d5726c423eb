package workload

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"kneesweep/load"
)

// speakers are the roles of who speaks in a ShareGPT conversation.
var speakers = map[string]string{
	"system": "system", "human": "user", "user": "user",
	"gpt": "assistant", "assistant": "assistant", "chatgpt": "assistant", "bing": "assistant", "bard": "assistant",
}

// parseShareGPT reads a conversation as other benchmarks do, so that figures compare:
// the first question is asked, after the system prompts before it, and the answer
// may be as long as the one that follows it.
func parseShareGPT(raw json.RawMessage) (p load.Prompt, recorded bool, err error) {
	var turns []struct {
		From  *string
		Value *string
	}
	if raw[0] != '[' || json.Unmarshal(raw, &turns) != nil {
		return p, false, fmt.Errorf(`"conversations" is %s that cannot be read; write [{"from":"human","value":"…"},{"from":"gpt","value":"…"}]`, kind(raw))
	}
	for i, t := range turns {
		if t.From == nil || t.Value == nil {
			return p, false, fmt.Errorf(`turn %d: needs "from" and "value"`, i+1)
		}
		asked := len(p.Messages) > 0 && p.Messages[len(p.Messages)-1].Role == "user"
		switch role, ok := speakers[*t.From]; {
		case !ok:
			return p, false, fmt.Errorf(`turn %d: the speaker %.40q is not known; write human, gpt or system`, i+1, *t.From)
		case asked && role == "assistant" && strings.TrimSpace(*t.Value) != "":
			p.OutputTokens = estimate(*t.Value)
			return p, true, nil
		case asked:
			return p, false, nil
		case role != "assistant" && strings.TrimSpace(*t.Value) != "": // an answer without its question is the end of another page
			p.Messages = append(p.Messages, load.Message{Role: role, Content: *t.Value})
		}
	}
	if len(p.Messages) == 0 || p.Messages[len(p.Messages)-1].Role != "user" {
		return p, false, errors.New(`"conversations" hold no question; write a turn from "human", or remove the conversation`)
	}
	return p, false, nil
}
