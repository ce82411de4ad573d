package main

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/deed-project/deed/oracle/pair"
)

// campaign plays rounds on both servers.
type campaign struct {
	real, deed *pair.Server
	seed       uint64
	rounds     int
	workers    int
	only       int // a round; none below 0
}

// run plays the rounds of the seed. It returns how many differ.
func (c *campaign) run() (differ int, err error) {
	if err := c.define(); err != nil {
		return 0, err
	}
	var mu sync.Mutex
	var running sync.WaitGroup
	next := make(chan int)
	for range c.workers {
		running.Go(func() {
			for n := range next {
				report, e := c.round(n)
				mu.Lock()
				if e != nil {
					err = cmp.Or(err, fmt.Errorf("round %d: %w", n, e))
				}
				if report != "" {
					differ++
					fmt.Println(report)
				}
				mu.Unlock()
			}
		})
	}
	for n := range c.rounds {
		if c.only < 0 || n == c.only {
			next <- n
		}
	}
	close(next)
	running.Wait()
	return differ, err
}

// attempts is how often a round is played that differs.
const attempts = 3

// round plays a round until both servers do the same. It returns a report if they never do.
func (c *campaign) round(n int) (report string, err error) {
	for attempt := range attempts {
		g := &game{planner: newPlanner(c.seed, n, attempt), sides: [2]*side{newSide(c.real), newSide(c.deed)}, loud: c.only >= 0}
		differences, err := g.play()
		if err != nil || len(differences) == 0 {
			return "", err
		}
		report = fmt.Sprintf("round %d\n%s%s\n", n, g.told.String(), strings.Join(differences, "\n"))
	}
	return report, nil
}

// define makes the custom resources, and waits until the garbage collectors know them.
func (c *campaign) define() error {
	for _, k := range kinds {
		if !strings.HasPrefix(k.apiVersion, "garbage.") {
			continue
		}
		scope := "Cluster"
		if k.namespaced {
			scope = "Namespaced"
		}
		definition := map[string]any{
			"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": map[string]any{"name": k.plural + ".garbage.example.org"},
			"spec": map[string]any{
				"group": "garbage.example.org", "scope": scope, "names": map[string]any{"plural": k.plural, "kind": k.name},
				"versions": []any{map[string]any{
					"name": "v1", "served": true, "storage": true, "schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object"}},
				}},
			},
		}
		q := pair.Request{Method: http.MethodPost, Path: "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", Body: definition}
		if err := pair.Expect(q, []int{http.StatusCreated, http.StatusConflict}, c.real, c.deed); err != nil {
			return err
		}
	}
	for _, s := range []*pair.Server{c.real, c.deed} {
		if err := collects(s); err != nil {
			return err
		}
	}
	return nil
}

// collects waits until the garbage collector of a server collects custom resources: that of kube-controller-manager looks for new ones every
// 30 seconds.
func collects(s *pair.Server) error {
	time.Sleep(3 * time.Second)
	for n := range 60 {
		place := map[string]any{"apiVersion": "garbage.example.org/v1", "kind": "Place", "metadata": map[string]any{
			"name": fmt.Sprint("probe-", n), "ownerReferences": []any{map[string]any{
				"apiVersion": "garbage.example.org/v1", "kind": "Place", "name": "none", "uid": "none",
			}},
		}}
		path := "/apis/garbage.example.org/v1/places"
		if _, err := s.Exchange(pair.Request{Method: http.MethodPost, Path: path, Body: place}); err != nil {
			return err
		}
		time.Sleep(2 * time.Second)
		reply, err := s.Exchange(pair.Request{Method: http.MethodGet, Path: fmt.Sprint(path, "/probe-", n)})
		if err != nil || reply.Code == http.StatusNotFound {
			return err
		}
	}
	return fmt.Errorf("%v collects no garbage", s)
}

// game is a round that is played.
type game struct {
	*planner
	sides  [2]*side
	loud   bool
	ending bool            // the namespaces are being deleted
	told   strings.Builder // the steps so far
}

// side is a server in a round.
type side struct {
	*pair.Server
	uids  map[uid]string    // of the objects of the round, as last made
	names map[string]string // what UIDs are shown as, those of former objects, too
}

func newSide(s *pair.Server) *side { return &side{s, map[uid]string{}, map[string]string{}} }

// play plays the round, up to its first difference.
func (g *game) play() (differences []string, err error) {
	defer func() {
		if e := g.clear(); err == nil && e != nil {
			err = e
		}
	}()
	for _, name := range g.namespaces {
		body := map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name}}
		q := pair.Request{Method: http.MethodPost, Path: "/api/v1/namespaces", Body: body}
		if err := pair.Expect(q, []int{http.StatusCreated}, g.sides[0].Server, g.sides[1].Server); err != nil {
			return nil, err
		}
	}
	for _, s := range g.start() {
		if differences, err = g.send(s); err != nil || len(differences) > 0 {
			return differences, err
		}
	}
	if differences, err = g.settle(); err != nil || len(differences) > 0 {
		return differences, err
	}
	for range changes {
		if differences, err = g.send(g.change()); err != nil || len(differences) > 0 {
			return differences, err
		}
		if differences, err = g.settle(); err != nil || len(differences) > 0 {
			return differences, err
		}
	}
	// kube-controller-manager deletes the objects of a namespace in random order, so it is chance which owners go before their dependents.
	g.ending = true
	for _, s := range g.end() {
		if differences, err = g.send(s); err != nil || len(differences) > 0 {
			return differences, err
		}
	}
	return g.settle()
}

// send sends a step to both servers, and compares the answers.
func (g *game) send(s step) (differences []string, err error) {
	fmt.Fprintf(&g.told, "  %s %s %s\n", s.method, s.path, pair.Text(g.sides[0].shown(s.body)))
	var replies [2]pair.Reply
	for i, side := range g.sides {
		q := pair.Request{Method: s.method, Path: s.path, ContentType: s.contentType}
		if s.body != nil {
			q.Body = side.sent(s.body)
		}
		if replies[i], err = side.Exchange(q); err != nil {
			return nil, err
		}
		if err := side.learn(g.objects, s, replies[i]); err != nil {
			return nil, err
		}
	}
	if g.loud {
		fmt.Println(s.method, s.path, pair.Text(g.sides[0].shown(s.body)), replies[0].Code)
	}
	if there, here := replies[0].Code, replies[1].Code; there != here {
		return []string{fmt.Sprintf("code: %d there, %d here", there, here), string(replies[0].Body), string(replies[1].Body)}, nil
	}
	return nil, nil
}

// learn remembers the UID of an object that was made.
func (s *side) learn(objects []*object, of step, r pair.Reply) error {
	if of.method != http.MethodPost || r.Code != http.StatusCreated {
		return nil
	}
	made, err := pair.DecodeJSON(r.Body)
	if err != nil {
		return fmt.Errorf("%s %s is answered with %s: %w", of.method, of.path, r.Body, err)
	}
	name, id := pair.Get(made, "metadata", "name"), pair.Get(made, "metadata", "uid").(string)
	for _, o := range objects {
		if o.name == name && o.collection(o.namespace) == of.path {
			s.uids[uid{o}], s.names[id] = id, "UID of "+o.id()
		}
	}
	return nil
}

// noUID is the UID of no object, and of one that is not made yet.
const noUID = "00000000-0000-4000-8000-000000000000"

// sent returns a body with the UIDs of a server.
func (s *side) sent(v any) any {
	return replaced(v, func(u uid) any { return cmp.Or(s.uids[u], noUID) })
}

// shown returns a body with the names of objects in the place of their UIDs.
func (s *side) shown(v any) any {
	return replaced(v, func(u uid) any {
		if u.object == nil {
			return "no UID"
		}
		return "UID of " + u.id()
	})
}

// replaced returns a body with other values in the place of UIDs.
func replaced(v any, by func(uid) any) any {
	switch v := v.(type) {
	case uid:
		return by(v)
	case map[string]any:
		out := maps.Clone(v)
		for name := range out {
			out[name] = replaced(out[name], by)
		}
		return out
	case []any:
		out := slices.Clone(v)
		for i := range out {
			out[i] = replaced(out[i], by)
		}
		return out
	}
	return v
}

const (
	poll     = 150 * time.Millisecond
	calm     = 5                // how many states that are equal mean that a server stands still
	patience = 25 * time.Second // how long servers get to reach the same state
)

// settle waits until both servers stand still in the same state, and returns what differs if they never do.
func (g *game) settle() (differences []string, err error) {
	still, before := 0, ""
	for end := time.Now().Add(patience); ; time.Sleep(poll) {
		var states [2]map[string]any
		for i, side := range g.sides {
			if states[i], err = side.state(g); err != nil {
				return nil, err
			}
		}
		differences = nil
		pair.Differ(states[0], states[1], "", func(format string, a ...any) { differences = append(differences, fmt.Sprintf(format, a...)) })
		now := pair.Text(states[:])
		if now != before || len(differences) > 0 {
			still, before = 0, now
		}
		if still++; still >= calm || time.Now().After(end) {
			return differences, nil
		}
	}
}

// state returns what a server has of a round: objects by their names, namespaces and Events.
func (s *side) state(g *game) (map[string]any, error) {
	out := map[string]any{}
	for _, k := range kinds {
		items, err := s.items(k.path + "/" + k.plural + "?labelSelector=round%3D" + g.round)
		if err != nil {
			return nil, err
		}
		for _, item := range items {
			m := item["metadata"].(map[string]any)
			id := fmt.Sprint(k.name, " ", m["namespace"], " ", m["name"])
			if g.ending {
				out[id] = m["finalizers"]
				continue
			}
			out[id] = map[string]any{
				"owners": s.renamed(m["ownerReferences"]), "finalizers": m["finalizers"], "deleting": m["deletionTimestamp"] != nil, "seconds": m["deletionGracePeriodSeconds"],
				"generation": m["generation"], "managedFields": pair.MaskedValue(s.renamed(map[string]any{"managedFields": m["managedFields"]})),
			}
		}
	}
	for _, name := range g.namespaces {
		items, err := s.items("/api/v1/namespaces?fieldSelector=metadata.name%3D" + name)
		if err != nil {
			return nil, err
		}
		for _, item := range items {
			m := item["metadata"].(map[string]any)
			out["Namespace "+name] = map[string]any{
				"finalizers": pair.Get(item, "spec", "finalizers"), "deleting": m["deletionTimestamp"] != nil, "status": pair.MaskedValue(item["status"]),
			}
		}
	}
	return out, nil
}

// renamed returns a value with the names of objects in the place of their UIDs, in texts and in names of members.
func (s *side) renamed(v any) any {
	switch v := v.(type) {
	case string:
		for id, name := range s.names {
			v = strings.ReplaceAll(v, id, name)
		}
		return v
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, member := range v {
			out[s.renamed(name).(string)] = s.renamed(member)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = s.renamed(item)
		}
		return out
	}
	return v
}

// items returns the objects of a list.
func (s *side) items(path string) ([]map[string]any, error) {
	var list struct{ Items []map[string]any }
	err := s.Read(path, &list)
	return list.Items, err
}

// clear removes all that a round has made.
func (g *game) clear() error {
	for _, s := range g.sides {
		for _, k := range kinds {
			path := k.path + "/" + k.plural
			items, err := s.items(path + "?labelSelector=round%3D" + g.round)
			if err != nil {
				return err
			}
			for _, item := range items {
				m := item["metadata"].(map[string]any)
				namespace, _ := m["namespace"].(string)
				at := fmt.Sprint(k.collection(namespace), "/", m["name"])
				none := map[string]any{"metadata": map[string]any{"finalizers": nil, "ownerReferences": nil}}
				for _, q := range []pair.Request{
					{Method: http.MethodPatch, Path: at, ContentType: "application/merge-patch+json", Body: none},
					{Method: http.MethodDelete, Path: at + "?gracePeriodSeconds=0&propagationPolicy=Background"},
				} {
					if _, err := s.Exchange(q); err != nil {
						return err
					}
				}
			}
		}
		for _, q := range g.end() {
			if _, err := s.Exchange(pair.Request{Method: q.method, Path: q.path}); err != nil {
				return err
			}
		}
	}
	return nil
}
