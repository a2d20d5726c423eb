package workload

import (
	"encoding/binary"
	"hash/fnv"
	"strconv"

	"kneesweep/load"
)

const (
	maxTurns   = 1000
	talkStream = 0x74616c6b << 16
)

// turn returns the next request of a stream's conversation: all messages of the
// request before, an answer of the length that was asked for, and the user's next
// message. The answer is made up, since a source does not see what the server said.
//
// The streams of a level begin somewhere in a conversation, so that contexts of all
// lengths are in flight from the first window on, and not all long ones at once.
func (s Synthetic) turn(k Key) load.Prompt {
	at := int(k.talkHash(0, 0)%uint64(s.Turns)) + k.Turn
	number, last := at/s.Turns, at%s.Turns
	p := load.Prompt{InputTokens: s.Prefix.Tokens, Messages: make([]load.Message, 0, 2*last+1)}
	for i := 0; ; i++ {
		id := k.talkHash(number, 1+i)
		in, out := s.lengths(id)
		p.InputTokens += in
		p.Messages = append(p.Messages, load.Message{Role: "user", Content: s.question(k, number, i, id, in)})
		if i == last {
			p.OutputTokens = out
			return p
		}
		p.InputTokens += out
		p.Messages = append(p.Messages, load.Message{Role: "assistant", Content: s.said(s.Seed^talkStream, id, out)})
	}
}

// question is the user's message in a turn. The first holds the beginning of the
// conversation.
func (s Synthetic) question(k Key, number, turn int, id uint64, tokens int) string {
	if turn > 0 {
		return s.said(s.Seed, id, tokens)
	}
	text := s.opening(id, k.appendTalk(nil, number))
	return string(s.appendWords(text, s.Seed, id, s.count(tokens)-1))
}

// said is a text of so many tokens, without anything of its own.
func (s Synthetic) said(seed, id uint64, tokens int) string {
	return string(s.appendWords(nil, seed, id, s.count(tokens))[1:])
}

// talkHash is that of a part of a conversation: 0 its place in the stream, from 1
// on its turns. Warm-ups and measured requests of a visit are one conversation.
func (k Key) talkHash(number, part int) uint64 {
	h := fnv.New64a()
	for _, n := range []int{k.Concurrency, k.Pass, k.Stream, number, part} {
		_, _ = h.Write(binary.LittleEndian.AppendUint64(nil, uint64(n)))
	}
	return h.Sum64()
}

// appendTalk appends the name of a conversation as one short word that no other
// has: 2s5c8p1 is the conversation 2 of stream 5 at 8 streams in pass 1.
func (k Key) appendTalk(b []byte, number int) []byte {
	b = append(strconv.AppendInt(b, int64(number), 10), 's')
	b = append(strconv.AppendInt(b, int64(k.Stream), 10), 'c')
	return k.appendVisit(b)
}
