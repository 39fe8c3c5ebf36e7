package dispatch_test

import (
	"fmt"
	"testing"
	"time"

	"car/internal/engine/dispatch"
	"car/internal/engine/ir"
)

// E-CACHE-1: good for its time, least recently used goes first, forgotten with its run.
func TestCache(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	c := dispatch.NewCache(func() time.Time { return now })
	c.Put("a", "x", time.Second)
	if v, ok := c.Get("a"); v != "x" || !ok {
		t.Errorf("%v %v", v, ok)
	}
	now = now.Add(time.Second)
	if _, ok := c.Get("a"); ok {
		t.Error("a result outlived its time")
	}
	for i := range 1024 {
		c.Put(ir.Digest(fmt.Sprint(i)), i, time.Hour)
	}
	c.Get("0") // now "1" is the oldest
	c.Put("one more", true, time.Hour)
	if _, ok := c.Get("0"); !ok {
		t.Error("a result just used was dropped")
	}
	if _, ok := c.Get("1"); ok {
		t.Error("the cache grew beyond its bound")
	}
	c.Forget("0", "unknown")
	if _, ok := c.Get("0"); ok {
		t.Error("a forgotten result was answered")
	}
}
