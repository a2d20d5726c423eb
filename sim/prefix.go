package sim

import (
	"container/list"
	"hash/maphash"
)

// prefixBlock is the number of prompt tokens that are kept or forgotten together.
const prefixBlock = 16

// prefixSeed makes the names of blocks of this process.
var prefixSeed = maphash.MakeSeed()

// blocks names the whole blocks at the beginning of a prompt, each by all that comes
// before its end: two prompts share as many names as they share blocks from the start.
func blocks(words []string) []uint64 {
	var h maphash.Hash
	h.SetSeed(prefixSeed)
	names := make([]uint64, 0, len(words)/prefixBlock)
	for i, w := range words {
		_, _ = h.WriteString(w)
		_ = h.WriteByte(' ')
		if (i+1)%prefixBlock == 0 {
			names = append(names, h.Sum64())
		}
	}
	return names
}

// prefixCache keeps the blocks that were used last. The engine's lock guards it.
type prefixCache struct {
	room int // blocks
	used *list.List
	at   map[uint64]*list.Element
}

func newPrefixCache(tokens int) *prefixCache {
	return &prefixCache{room: tokens / prefixBlock, used: list.New(), at: map[uint64]*list.Element{}}
}

// known returns the tokens at the beginning of a prompt that are kept.
func (c *prefixCache) known(names []uint64) (tokens int) {
	for _, name := range names {
		if c.at[name] == nil {
			break
		}
		tokens += prefixBlock
	}
	return tokens
}

// keep keeps the blocks of a prompt.
func (c *prefixCache) keep(names []uint64) {
	for i := len(names) - 1; i >= 0; i-- { // the end of a prompt is forgotten before its beginning
		if el := c.at[names[i]]; el != nil {
			c.used.MoveToFront(el)
			continue
		}
		c.at[names[i]] = c.used.PushFront(names[i])
	}
	for c.used.Len() > c.room {
		last := c.used.Back()
		delete(c.at, c.used.Remove(last).(uint64))
	}
}
