package builtin

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// Fields whose feature gate is off. gated.txt lists them, and withoutGated drops them.

//go:embed gated.txt
var gatedFields string

// podSpecs has, by group and kind, the path of the pod spec in objects.
var podSpecs = map[schema.GVK][]string{
	{Kind: "Pod"}:                        {"spec"},
	{Kind: "PodTemplate"}:                {"template", "spec"},
	{Kind: "ReplicationController"}:      {"spec", "template", "spec"},
	{Group: "apps", Kind: "DaemonSet"}:   {"spec", "template", "spec"},
	{Group: "apps", Kind: "Deployment"}:  {"spec", "template", "spec"},
	{Group: "apps", Kind: "ReplicaSet"}:  {"spec", "template", "spec"},
	{Group: "apps", Kind: "StatefulSet"}: {"spec", "template", "spec"},
	{Group: "batch", Kind: "Job"}:        {"spec", "template", "spec"},
	{Group: "batch", Kind: "CronJob"}:    {"spec", "jobTemplate", "spec", "template", "spec"},
}

// podSpec returns the path of the pod spec in objects of the kind; nil if they have none.
func (k *Kind) podSpec() []string { return podSpecs[schema.GVK{Group: k.GVK.Group, Kind: k.GVK.Kind}] }

// gate is a node of a tree of paths to gated fields. Its place is the value at the path.
type gate struct {
	name    string // the feature gate, if the place itself is gated
	allowed string // a text that a gated place may have; "" for none
	sets    bool   // the place gets the text instead of being dropped
	hollow  bool   // the place is dropped when it becomes empty
	oneOf   bool   // the place counts only if the object has no earlier place with oneOf
	members []gateMember
	items   *gate // the items of a list, or the members of a map
}

type gateMember struct {
	name  string
	after []string // the member does not count beside one of these
	*gate
}

// of returns the member of v. It is absent if it does not count.
func (m gateMember) of(v value.Value) value.Value {
	for _, name := range m.after {
		if !isNothing(v.Get(name)) {
			return value.Value{}
		}
	}
	return v.Get(m.name)
}

// gates has the paths to gated fields, by minor release and then by group and kind.
var gates = func() (out [CurrentMinor + 1]func() map[schema.GVK]ways) {
	for minor := range out {
		out[minor] = sync.OnceValue(func() map[schema.GVK]ways { return gatesIn(minor) })
	}
	return out
}()

// gatesIn returns the paths to the gated fields of a minor release, by group and kind. A gate with a choice of members has a tree of its
// own, because the choice applies to this gate only.
func gatesIn(minor int) map[schema.GVK]ways {
	type tree struct {
		of   schema.GVK
		name string // of a gate with a choice, else ""
	}
	out, trees := map[schema.GVK]ways{}, map[tree]*gate{}
	add := func(of schema.GVK, path, name string) {
		t := tree{of: of}
		if strings.Contains(path, "|") {
			t.name = name
		}
		if trees[t] == nil {
			trees[t] = &gate{}
			out[of] = append(out[of], trees[t])
		}
		trees[t].add(path, name)
	}
	name := ""
	for line := range strings.Lines(gatedFields) {
		fields := strings.Fields(line)
		switch {
		case len(fields) == 0 || fields[0] == "#":
			continue
		case line[0] != '\t':
			name = strings.TrimSpace(line)
			before, until, limited := strings.Cut(name, " until ")
			before, from, begun := strings.Cut(before, " from ")
			if name = before; limited && minorOf(until) <= minor || begun && minor < minorOf(from) {
				name = "" // the gate is on, or not known
			}
			continue
		case name == "":
			continue
		}
		for _, path := range fields[1:] {
			for of, path := range gatedPaths(fields[0], path) {
				add(of, path, name)
			}
		}
	}
	return out
}

// gatedPaths yields the kinds that a line of gated.txt applies to, each with the path in its objects.
func gatedPaths(kind, path string) func(func(schema.GVK, string) bool) {
	return func(yield func(schema.GVK, string) bool) {
		lists := []string{""}
		switch kind {
		default:
			group, kind, found := strings.Cut(kind, "/")
			if !found {
				group, kind = "", group
			}
			yield(schema.GVK{Group: group, Kind: kind}, path)
			return
		case "pod":
		case "container":
			lists = []string{"containers[].", "initContainers[].", "ephemeralContainers[]."}
		}
		for of, spec := range podSpecs {
			for _, list := range lists {
				if !yield(of, strings.Join(spec, ".")+"."+list+path) {
					return
				}
			}
		}
	}
}

// add adds a path to a gated field.
func (g *gate) add(path, name string) {
	oneOf := false
	path, allowed, sets := strings.Cut(path, "=")
	if !sets {
		path, allowed, _ = strings.Cut(path, "~")
	}
	for step := range strings.SplitSeq(path, ".") {
		step, choice := strings.CutSuffix(step, "|")
		member, ofList := strings.CutSuffix(step, "[]")
		member, ofMap := strings.CutSuffix(member, "{}")
		member, hollow := strings.CutSuffix(member, "!")
		at := slices.IndexFunc(g.members, func(m gateMember) bool { return m.name == member })
		if at < 0 {
			at = len(g.members)
			m := gateMember{name: member, gate: &gate{}}
			for _, before := range g.members {
				if oneOf && before.oneOf {
					m.after = append(m.after, before.name)
				}
			}
			g.members = append(g.members, m)
		}
		g = g.members[at].gate
		g.oneOf = g.oneOf || oneOf
		g.hollow = g.hollow || hollow
		if ofList || ofMap {
			if g.items == nil {
				g.items = &gate{}
			}
			g = g.items
		}
		oneOf = choice
	}
	g.name, g.allowed, g.sets = name, allowed, sets
}

// withoutGated returns object without the fields whose gate is off, unless live has a field of the same gate.
func (k *Kind) withoutGated(live, object value.Value) value.Value {
	w := k.gated()
	found := w.find(object, live)
	if len(found) == 0 {
		return object
	}
	used := w.find(live, value.Value{})
	found = slices.DeleteFunc(found, func(name string) bool {
		return slices.Contains(used, name) || !live.IsAbsent() && strings.HasSuffix(name, " created")
	})
	return w.drop(object, found)
}

// ways are the trees of paths to the gated fields of a kind.
type ways []*gate

// gated returns the paths to the gated fields of the kind.
func (k *Kind) gated() ways {
	return gates[k.Minor()]()[schema.GVK{Group: k.GVK.Group, Kind: k.GVK.Kind}]
}

// find returns the names of the gates whose fields v has, except in parts that it shares with known.
func (w ways) find(v, known value.Value) (names []string) {
	for _, g := range w {
		names = g.find(v, known, names)
	}
	return names
}

// drop returns v without the fields of the named gates.
func (w ways) drop(v value.Value, names []string) value.Value {
	for _, g := range w {
		v = g.drop(v, names)
	}
	return v
}

// find appends the names of the gates whose fields v has, except in parts that it shares with known.
func (g *gate) find(v, known value.Value, names []string) []string {
	switch {
	case isNothing(v), v.Same(known):
		return names
	case g.allowed != "" && v.Str() == g.allowed:
		return names
	case g.name != "" && !slices.Contains(names, g.name):
		names = append(names, g.name)
	}
	for _, m := range g.members {
		names = m.find(m.of(v), m.of(known), names)
	}
	if g.items != nil {
		at := 0
		for item := range v.Items() {
			names = g.items.find(item, known.Item(at), names)
			at++
		}
		for name, member := range v.Members() {
			names = g.items.find(member, known.Get(name), names)
		}
	}
	return names
}

// drop returns v without the fields of the named gates.
func (g *gate) drop(v value.Value, names []string) value.Value {
	switch {
	case isNothing(v):
		return v
	case g.allowed != "" && v.Str() == g.allowed:
		return v
	case g.sets && slices.Contains(names, g.name):
		return value.String(g.allowed)
	case g.name != "" && slices.Contains(names, g.name):
		return value.Value{}
	}
	had, was := v.Len(), v
	for _, m := range g.members {
		if member := m.of(was); !member.IsAbsent() {
			v = v.With(m.name, m.drop(member, names))
		}
	}
	switch {
	case g.hollow && had > 0 && v.Len() == 0:
		return value.Value{}
	case g.items == nil:
	case v.Kind() == value.KindList:
		var items []value.Value
		for item := range v.Items() {
			items = append(items, g.items.drop(item, names))
		}
		return value.List(items...)
	default:
		for name, member := range v.Members() {
			v = v.With(name, g.items.drop(member, names))
		}
	}
	return v
}

// lateDefaults has, by group and kind, a field whose default exists since a release. The default depends on the gate of the field.
var lateDefaults = map[schema.GVK]struct {
	since string
	path  []string
}{
	{Group: "apps", Kind: "StatefulSet"}:         {"v1.37", []string{"spec", "updateStrategy", "rollingUpdate", "maxUnavailable"}},
	{Group: "storage.k8s.io", Kind: "CSIDriver"}: {"v1.37", []string{"spec", "preventPodSchedulingIfMissing"}},
}

// cronJobDefaultsSince is the first release in which the job of a CronJob has all default values of a Job.
const cronJobDefaultsSince = "v1.34"

// undefaulted returns held without the defaults that came after the release of the kind. held was read from object.
func (k *Kind) undefaulted(object, held value.Value) value.Value {
	if k.Minor() == CurrentMinor {
		return held
	}
	if k.GVK.Kind == "CronJob" && k.Minor() < minorOf(cronJobDefaultsSince) {
		held = withoutPatternStatus(object, held)
	}
	if spec := k.podSpec(); spec != nil && k.Minor() < minorOf(imagesSince) {
		held = withoutPullPolicies(object, held, slices.Concat(spec, []string{"volumes"}))
	}
	late, ok := lateDefaults[schema.GVK{Group: k.GVK.Group, Kind: k.GVK.Kind}]
	if !ok || minorOf(late.since) <= k.Minor() || !isNothing(object.Get(late.path...)) || held.Get(late.path...).IsAbsent() {
		return held
	}
	return withAt(held, late.path, value.Value{})
}

// withoutPatternStatus returns held, a CronJob, without the default status of its patterns of pod conditions. The patterns have their
// status in object.
func withoutPatternStatus(object, held value.Value) value.Value {
	at := []string{"spec", "jobTemplate", "spec", "podFailurePolicy", "rules"}
	sent, i := object.Get(at...), -1
	return eachItem(held, func(rule value.Value) value.Value {
		i++
		patterns, j := sent.Item(i).Get("onPodConditions"), -1
		return eachItem(rule, func(pattern value.Value) value.Value {
			j++
			return pattern.With("status", value.String(patterns.Item(j).Get("status").Str()))
		}, "onPodConditions")
	}, at...)
}

// withoutPullPolicies returns held without the default pull policies of its image volumes. The volumes have their policies in object. at is
// the path of the volumes.
func withoutPullPolicies(object, held value.Value, at []string) value.Value {
	sent, i := object.Get(at...), -1
	return eachItem(held, func(volume value.Value) value.Value {
		i++
		image := volume.Get("image")
		if isNothing(image) {
			return volume
		}
		return volume.With("image", image.With("pullPolicy", sent.Item(i).Get("image", "pullPolicy")))
	}, at...)
}

// imagesSince is the first release with image volumes.
const imagesSince = "v1.35"

// withoutImageVolumes returns object without image volumes and their mounts, unless the release has them or live has one. Empty lists of
// volumes and mounts are dropped, too.
func (k *Kind) withoutImageVolumes(live, object value.Value) value.Value {
	if minorOf(imagesSince) <= k.Minor() {
		return object
	}
	at := k.podSpec()
	if at == nil {
		return object
	}
	spec, names := object.Get(at...), imageVolumes(object.Get(at...))
	if spec.Len() == 0 || len(imageVolumes(live.Get(at...))) > 0 {
		return object
	}
	isImage := func(volume value.Value) bool { return !isNothing(volume.Get("image")) }
	isMount := func(mount value.Value) bool { return slices.Contains(names, mount.Get("name").Str()) }
	without := func(list value.Value, dropped func(value.Value) bool) value.Value {
		var kept []value.Value
		for item := range list.Items() {
			if !dropped(item) {
				kept = append(kept, item)
			}
		}
		if len(kept) == 0 {
			return value.Value{}
		}
		return value.List(kept...)
	}
	spec = spec.With("volumes", without(spec.Get("volumes"), isImage))
	for _, name := range []string{"initContainers", "containers", "ephemeralContainers"} {
		var containers []value.Value
		for c := range spec.Get(name).Items() {
			containers = append(containers, c.With("volumeMounts", without(c.Get("volumeMounts"), isMount)))
		}
		if containers != nil {
			spec = spec.With(name, value.List(containers...))
		}
	}
	return withAt(object, at, spec)
}

// imageVolumes returns the names of the image volumes of a pod.
func imageVolumes(spec value.Value) (names []string) {
	for v := range spec.Get("volumes").Items() {
		if !isNothing(v.Get("image")) {
			names = append(names, v.Get("name").Str())
		}
	}
	return names
}
