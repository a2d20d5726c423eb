package load

import "time"

// Message is one turn of a chat prompt.
type Message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// Prompt is one request to be sent.
type Prompt struct {
	ID           int64 // unique within a run, counted from 1
	Messages     []Message
	InputTokens  int // prompt tokens that the source aimed at, 0 = not known; what the server counted stands in the Sample
	OutputTokens int // longest answer allowed (max_tokens); 0 leaves it to the server

	// Canary is the number of a question with a known answer, from 1; 0 = it is none.
	// The Sender then gathers the answer and asks Expected whether it is the known one.
	Canary   int
	Expected func(answer string) bool

	// Arrived, if set, is called by the Sender once per token-bearing chunk with
	// its arrival time, on the goroutine that reads. It must not block.
	Arrived func(at time.Duration)
}
