package garbage_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/server/internal/servertest"
	"github.com/deed-project/deed/value"
)

var collecting = server.Config{Controllers: []string{"garbage-collector-controller"}}

// owned returns a ConfigMap with owners, each the name and UID of a ConfigMap; a name with a bang blocks its owner.
func owned(name string, owners ...[2]string) string {
	var references []string
	for _, o := range owners {
		of, blocks := strings.CutSuffix(o[0], "!")
		references = append(references, fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","name":%q,"uid":%q,"blockOwnerDeletion":%t}`, of, o[1], blocks))
	}
	return fmt.Sprintf(`{"metadata":{"name":%q,"ownerReferences":[%s]}}`, name, strings.Join(references, ","))
}

// TestRandomOwners plays random histories of objects that own each other, and looks at what is left when nothing moves any more: no object
// that should have been collected, and none that waits in vain.
func TestRandomOwners(t *testing.T) {
	for seed := range uint64(60) {
		synctest.Test(t, func(t *testing.T) {
			history{rand.New(rand.NewPCG(seed, 32)), servertest.Start(t, collecting), map[string]string{}}.play(t)
		})
	}
}

// history is a random history of ConfigMaps a to h.
type history struct {
	*rand.Rand
	server http.Handler
	uids   map[string]string // of all objects that were ever created, by name and number
}

func (h history) play(t *testing.T) {
	name := func() string { return string(rune('a' + h.IntN(8))) }
	for step := range 60 {
		at := name()
		path := servertest.MapsPath + "/" + at
		switch h.IntN(6) {
		case 0, 1, 2:
			_, v := servertest.Send(t, h.server, http.MethodPost, servertest.MapsPath, owned(at, h.owners(name)...))
			if uid := v.Get("metadata", "uid").Str(); uid != "" {
				h.uids[at] = uid
			}
		case 3:
			servertest.Send(t, h.server, http.MethodPatch, path, owned(at, h.owners(name)...))
		default:
			policy := []string{"Background", "Foreground", "Orphan"}[h.IntN(3)]
			servertest.Send(t, h.server, http.MethodDelete, path+"?propagationPolicy="+policy, "")
		}
		if step%7 == 0 {
			synctest.Wait()
		}
	}
	time.Sleep(2 * time.Minute) // retries end
	synctest.Wait()
	_, list := servertest.Send(t, h.server, http.MethodGet, servertest.MapsPath, "")
	stored := map[string]value.Value{}
	for item := range list.Get("items").Items() {
		stored[item.Get("metadata", "uid").Str()] = item.Get("metadata")
	}
	for uid, m := range stored {
		if wrong := remains(uid, m, stored); wrong != "" {
			t.Errorf("%s %s: %v", m.Get("name").Str(), wrong, list)
		}
	}
}

// owners returns up to two owners: objects that exist or existed.
func (h history) owners(name func() string) (out [][2]string) {
	for range h.IntN(3) {
		if of := name(); h.uids[of] != "" {
			bang := []string{"", "!"}[h.IntN(2)]
			out = append(out, [2]string{of + bang, h.uids[of]})
		}
	}
	return out
}

// remains returns why an object should have been collected, or should not wait; "" if it is rightly as it is.
func remains(uid string, m value.Value, stored map[string]value.Value) string {
	has := func(m value.Value, finalizer string) bool {
		for f := range m.Get("finalizers").Items() {
			if f.Str() == finalizer {
				return true
			}
		}
		return false
	}
	isDeleting := func(m value.Value) bool { return !m.Get("deletionTimestamp").IsAbsent() }
	switch {
	case isDeleting(m) && has(m, "orphan"):
		return "is not orphaned"
	case isDeleting(m) && has(m, "foregroundDeletion"):
		for _, d := range stored {
			for r := range d.Get("ownerReferences").Items() {
				if r.Get("uid").Str() == uid && r.Get("blockOwnerDeletion").Bool() {
					return ""
				}
			}
		}
		return "waits for nothing"
	case isDeleting(m):
		return "is deleted and stored"
	}
	missing := 0
	for r := range m.Get("ownerReferences").Items() {
		if owner, exists := stored[r.Get("uid").Str()]; !exists || isDeleting(owner) && has(owner, "foregroundDeletion") {
			missing++
		}
	}
	if missing > 0 {
		return fmt.Sprintf("names %d owners that are not there", missing)
	}
	return ""
}

// TestOwnersOfEarlierObjects starts a collector on a store that has objects of all kinds of owners.
func TestOwnersOfEarlierObjects(t *testing.T) {
	s := servertest.Start(t, server.Config{})
	_, v := servertest.Send(t, s, http.MethodPost, servertest.MapsPath, owned("owner"))
	uid := v.Get("metadata", "uid").Str()
	servertest.Create(t, s, servertest.MapsPath, owned("kept", [2]string{"owner", uid}))
	servertest.Create(t, s, servertest.MapsPath, owned("lost", [2]string{"nobody", "00000000-0000-4000-8000-000000000000"}))
	_, v = servertest.Send(t, s, http.MethodPost, servertest.MapsPath, owned("waiting"))
	servertest.Create(t, s, servertest.MapsPath, owned("blocking", [2]string{"waiting!", v.Get("metadata", "uid").Str()}))
	servertest.Send(t, s, http.MethodDelete, servertest.MapsPath+"/waiting?propagationPolicy=Foreground", "")
	c := collecting
	_, list := servertest.Send(t, s, http.MethodGet, servertest.MapsPath, "")
	for item := range list.Get("items").Items() {
		c.Objects = append(c.Objects, item.With("apiVersion", value.String("v1")).With("kind", value.String("ConfigMap")))
	}
	later := servertest.Start(t, c)
	servertest.Await(t, func() bool {
		_, list := servertest.Send(t, later, http.MethodGet, servertest.MapsPath, "")
		names := ""
		for item := range list.Get("items").Items() {
			names += item.Get("metadata", "name").Str() + " "
		}
		return names == "kept owner "
	})
}

// BenchmarkCollect deletes an owner of 10,000 ConfigMaps, and waits until they are gone.
func BenchmarkCollect(b *testing.B) {
	const n = 10_000
	s := servertest.Start(b, collecting)
	count := func() int {
		_, list := servertest.Send(b, s, http.MethodGet, servertest.MapsPath+"?limit=1", "")
		return list.Get("items").Len()
	}
	for b.Loop() {
		b.StopTimer()
		_, v := servertest.Send(b, s, http.MethodPost, servertest.MapsPath, owned("owner"))
		uid := v.Get("metadata", "uid").Str()
		for i := range n {
			servertest.Create(b, s, servertest.MapsPath, owned(fmt.Sprint("owned-", i), [2]string{"owner", uid}))
		}
		time.Sleep(100 * time.Millisecond) // the collector has seen them
		b.StartTimer()
		servertest.Send(b, s, http.MethodDelete, servertest.MapsPath+"/owner", "")
		for count() > 0 {
			time.Sleep(time.Millisecond)
		}
	}
}
