package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/deed-project/deed/oracle/pair"
)

// The history of a round: its objects are created, and then changed while watches follow. Requests refer to the resource versions in between,
// so that they list the past, continue a list of the past, or watch from there.

const (
	changesPerRound = 24
	watchesPerRound = 6
)

// change returns a request that changes an object in a collection.
func (m *maker) change(k collection) pair.Request {
	i := m.IntN(len(names))
	path := k.path() + "/" + names[i]
	merge := func(path string, body any) pair.Request {
		return pair.Request{Method: http.MethodPatch, Path: path, ContentType: "application/merge-patch+json", Body: body}
	}
	metadata := func(member string, value any) pair.Request {
		return merge(path, map[string]any{"metadata": map[string]any{member: value}})
	}
	switch n := m.IntN(20); {
	case n < 6:
		return metadata("labels", map[string]any{"app": one[any](m, "x", "y", nil)})
	case n < 8:
		return metadata("labels", map[string]any{"n": one[any](m, "0", "1", "2", nil)})
	case n < 10:
		return metadata("annotations", map[string]any{"note": one[any](m, "a", "b", nil)})
	case n < 13:
		return pair.Request{Method: http.MethodDelete, Path: path + "?gracePeriodSeconds=0&propagationPolicy=Background"}
	case n < 16:
		return pair.Request{Method: http.MethodPost, Path: k.path(), Body: m.object(k, names[i], i)}
	}
	switch k.kind {
	case "Pod":
		if m.chance(0.3) {
			target := map[string]any{"kind": "Node", "name": one(m, "node-1", "node-2")}
			return pair.Request{Method: http.MethodPost, Path: path + "/binding", Body: map[string]any{
				"apiVersion": "v1", "kind": "Binding", "metadata": map[string]any{"name": names[i]}, "target": target,
			}}
		}
		return merge(path+"/status", map[string]any{"status": map[string]any{"phase": one(m, "Pending", "Running", "Failed")}})
	case "Node":
		return merge(path, map[string]any{"spec": map[string]any{"unschedulable": one[any](m, true, false, nil)}})
	case "Engine":
		return merge(path, map[string]any{"spec": map[string]any{"color": one[any](m, "red", "blue", nil), "replicas": m.IntN(4)}})
	}
	return metadata("labels", map[string]any{"app": one(m, "x", "y")})
}

// What watches of changes select, by fields for each kind and by labels, and in which forms they are read. All of these are valid for some kind.
var (
	liveFields = map[string][]string{
		"Pod":    {"spec.nodeName=node-1", "spec.nodeName!=node-1,status.phase!=Failed", "status.phase=Running", "status.phase!=Pending"},
		"Node":   {"spec.unschedulable=true", "spec.unschedulable!=true"},
		"Engine": {"spec.color=red", "spec.color!=red,spec.replicas=2", "spec.replicas=3"},
	}
	liveLabels = []string{"app=x", "app!=x", "app in (x,y)", "app notin (x)", "app", "!app", "n>0", "n<2,app"}
	liveForms  = []string{
		"", "", "application/json", asTable, asTable, "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io", pair.Protobuf, pair.Protobuf + asTable[16:],
		pair.Protobuf + ";as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
	}
	liveStarts = []string{
		"resourceVersion=$NOW", "resourceVersion=$NOW", "resourceVersion=0", "", "resourceVersion=$AT",
		"sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true",
		"sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&resourceVersion=$AT",
		"sendInitialEvents=false&resourceVersionMatch=NotOlderThan&resourceVersion=$AT",
	}
)

// live returns a watch that follows the changes of a round.
func (m *maker) live() request {
	k := m.there[m.IntN(len(m.there))]
	q := request{form: ofWatch}
	q.Method, q.Path, q.Accept = http.MethodGet, k.path(), one(m, liveForms...)
	if m.chance(0.3) && !slices.Contains(ofServer, k.kind) {
		q.Path = strings.Replace(q.Path, "/namespaces/"+k.namespace+"/", "/", 1)
	}
	parts := []string{"watch=1", fmt.Sprint("timeoutSeconds=", liveSeconds)}
	if fields := append(liveFields[k.kind], "metadata.name=o-1", "metadata.name!=o-2"); m.chance(0.5) {
		parts = append(parts, "fieldSelector="+url.QueryEscape(one(m, fields...)))
	}
	if m.chance(0.4) {
		parts = append(parts, "labelSelector="+url.QueryEscape(one(m, liveLabels...)))
	}
	if start := one(m, liveStarts...); strings.HasSuffix(start, "$AT") {
		parts = append(parts, start+m.step())
	} else {
		parts = append(parts, start)
	}
	q.Path += "?" + strings.Join(parts, "&")
	return q
}

// liveSeconds is how long a watch follows the changes. They take less, or the watch is not compared.
const liveSeconds = 4

// history makes the objects of a round, and changes them while watches follow. It reports whether both servers answered all
// changes alike, so that they have the same objects.
func (c *campaign) history(n int, m *maker, shown map[string]bool) (alike bool, err error) {
	for _, k := range m.there {
		for i, name := range names {
			// A second object of the same content may be refused. Then no server has it.
			if _, err := c.write(n, m, pair.Request{Method: http.MethodPost, Path: k.path(), Body: m.object(k, name, i)}); err != nil {
				return false, err
			}
		}
	}
	type watch struct {
		request
		replies [2]pair.Reply
		errs    [2]error
	}
	watches := make([]watch, watchesPerRound)
	var running sync.WaitGroup
	for i := range watches {
		w := &watches[i]
		w.request = m.live()
		for j, s := range c.sides() {
			filled := *s // the versions change meanwhile
			running.Go(func() { w.replies[j], w.errs[j] = filled.ask(w.request) })
		}
	}
	start := time.Now()
	time.Sleep(time.Second / 2) // watches from a list begin with the same objects
	alike = true
	for range changesPerRound {
		same, err := c.write(n, m, m.change(m.there[m.IntN(len(m.there))]))
		if err != nil {
			return false, err
		}
		alike = alike && same
	}
	late := time.Since(start) > (liveSeconds-1)*time.Second
	running.Wait()
	for i, w := range watches {
		if err := errors.Join(w.errs[:]...); err != nil {
			return false, fmt.Errorf("%s: %w", w.Path, err)
		}
		there, here := c.real.steps(events(w.replies[0])), c.deed.steps(events(w.replies[1]))
		differences := pair.Compare(there, here)
		c.sent++
		c.codes[there.Code]++
		title := fmt.Sprintf("round %d, watch %d", n, i)
		if c.only >= 0 {
			pair.Show(title, w.Request, there, here, differences)
		}
		if late || !alike {
			continue
		}
		c.note(title, w.request, there, here, differences, shown)
	}
	return alike, nil
}

// write sends a change to both servers, and notes the resource version after it. It reports whether both answer with the same code.
func (c *campaign) write(n int, m *maker, q pair.Request) (same bool, err error) {
	var replies [2]pair.Reply
	for i, s := range c.sides() {
		if replies[i], err = s.Exchange(q); err != nil {
			return false, err
		}
		version := s.now()
		var object struct {
			Metadata struct{ ResourceVersion string }
		}
		if json.Unmarshal(replies[i].Body, &object) == nil && object.Metadata.ResourceVersion != "" {
			version = object.Metadata.ResourceVersion
		}
		s.versions = append(s.versions, version)
	}
	m.steps = len(c.real.versions)
	if replies[0].Code != replies[1].Code {
		c.found++
		pair.Show(fmt.Sprintf("round %d, change", n), q, replies[0], replies[1], nil)
	}
	return replies[0].Code == replies[1].Code, nil
}

// steps returns a reply in which each object tells which step of the history wrote it, as far as it was one of them.
func (s *side) steps(reply pair.Reply) pair.Reply {
	plain, err := reply.Plain()
	if err != nil || !bytes.Contains(plain.Body, []byte(`"resourceVersion"`)) {
		return reply
	}
	all, ok := pair.Values(plain.Body)
	if !ok {
		return reply
	}
	for _, v := range all {
		s.addSteps(v)
	}
	return withValues(reply, all)
}

// withValues returns a reply with these values, as JSON, in the place of its body.
func withValues(reply pair.Reply, values []any) pair.Reply {
	var body bytes.Buffer
	for _, v := range values {
		body.WriteString(pair.Text(v) + "\n")
	}
	reply.Body, reply.Header = body.Bytes(), reply.Header.Clone()
	reply.Header.Set("Content-Type", "decoded from "+reply.Header.Get("Content-Type")) // so that it is not decoded again
	return reply
}

func (s *side) addSteps(v any) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			s.addSteps(item)
		}
	case map[string]any:
		for _, member := range v {
			s.addSteps(member)
		}
		version, _ := v["resourceVersion"].(string)
		if i := slices.Index(s.versions, version); i >= 0 && v["name"] != nil {
			v["writtenBy"] = fmt.Sprint("step ", i)
		}
	}
}

// events returns the reply to a watch without what comes by chance: bookmarks, except those at the end of the initial events, and columns of
// Tables after the first event. A kube-apiserver repeats the columns if another watch has printed the first event.
func events(reply pair.Reply) pair.Reply {
	plain, err := reply.Plain()
	if err != nil || reply.Code != http.StatusOK {
		return reply
	}
	all, ok := pair.Values(plain.Body)
	if !ok {
		return reply
	}
	all = slices.DeleteFunc(all, func(event any) bool {
		return pair.Get(event, "type") == "BOOKMARK" && !strings.Contains(pair.Text(event), "k8s.io/initial-events-end")
	})
	for _, event := range all[min(1, len(all)):] {
		if object, ok := pair.Get(event, "object").(map[string]any); ok {
			delete(object, "columnDefinitions")
		}
	}
	return withValues(reply, all)
}
