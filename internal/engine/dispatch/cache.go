package dispatch

import (
	"container/list"
	"sync"
	"time"

	"car/internal/engine/ir"
)

// cacheEntries bounds the result cache; the least recently used go first (E-CACHE-1).
const cacheEntries = 1024

// Cache keeps results of tools that allow it for their time to live. The key is
// that of the call: tenant, tool and parameters. Safe for concurrent use.
type Cache struct {
	now func() time.Time

	mu    sync.Mutex
	byKey map[ir.Digest]*list.Element
	order *list.List // most recently used first
}

type cached struct {
	key    ir.Digest
	output any
	until  time.Time
}

// NewCache makes an empty cache.
func NewCache(now func() time.Time) *Cache {
	return &Cache{now: now, byKey: map[ir.Digest]*list.Element{}, order: list.New()}
}

// Get returns a result that is still good. The value is shared and not to be changed.
func (c *Cache) Get(key ir.Digest) (any, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.byKey[key]
	if !ok {
		return nil, false
	}
	found := e.Value.(cached)
	if !c.now().Before(found.until) {
		c.drop(e)
		return nil, false
	}
	c.order.MoveToFront(e)
	return found.output, true
}

// Put keeps a result for a time.
func (c *Cache) Put(key ir.Digest, output any, ttl time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.byKey[key]; ok {
		c.drop(e)
	}
	c.byKey[key] = c.order.PushFront(cached{key, output, c.now().Add(ttl)})
	if c.order.Len() > cacheEntries {
		c.drop(c.order.Back())
	}
}

// Forget drops the results of a run that was rolled back.
func (c *Cache) Forget(keys ...ir.Digest) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, key := range keys {
		if e, ok := c.byKey[key]; ok {
			c.drop(e)
		}
	}
}

// Clear drops everything (E-CKPT-1).
func (c *Cache) Clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.byKey)
	c.order.Init()
}

func (c *Cache) drop(e *list.Element) {
	delete(c.byKey, e.Value.(cached).key)
	c.order.Remove(e)
}
