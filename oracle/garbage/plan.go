package main

import (
	"fmt"
	"math/rand/v2"
	"net/http"

	"github.com/deed-project/deed/oracle/pair"
)

// kind is a kind of objects that own and are owned.
type kind struct {
	apiVersion string
	name       string
	path       string // of the group and version
	plural     string
	namespaced bool
	content    map[string]any
}

// The kinds of a round. Things and Places are custom resources.
var kinds = []*kind{
	{"v1", "ConfigMap", "/api/v1", "configmaps", true, nil},
	{"v1", "Secret", "/api/v1", "secrets", true, nil},
	{"v1", "Pod", "/api/v1", "pods", true, map[string]any{"spec": podSpec()}},
	{"apps/v1", "ReplicaSet", "/apis/apps/v1", "replicasets", true, map[string]any{"spec": map[string]any{
		"selector": map[string]any{"matchLabels": appLabel()},
		"template": map[string]any{"metadata": map[string]any{"labels": appLabel()}, "spec": podSpec()},
	}}},
	{"coordination.k8s.io/v1", "Lease", "/apis/coordination.k8s.io/v1", "leases", true, nil},
	{"garbage.example.org/v1", "Thing", "/apis/garbage.example.org/v1", "things", true, nil},
	{"garbage.example.org/v1", "Place", "/apis/garbage.example.org/v1", "places", false, nil},
	{"rbac.authorization.k8s.io/v1", "ClusterRole", "/apis/rbac.authorization.k8s.io/v1", "clusterroles", false, nil},
}

func appLabel() map[string]any { return map[string]any{"app": "a"} }

func podSpec() map[string]any {
	return map[string]any{"containers": []any{map[string]any{"name": "c", "image": "i"}}}
}

// collection returns the path of the objects of a kind, in a namespace if the kind is in one.
func (k *kind) collection(namespace string) string {
	if k.namespaced {
		return k.path + "/namespaces/" + namespace + "/" + k.plural
	}
	return k.path + "/" + k.plural
}

// object is an object of a round.
type object struct {
	*kind
	name      string
	namespace string // also of objects without one
}

// id names an object in the output.
func (o *object) id() string {
	if o.namespaced {
		return o.kind.name + " " + o.namespace + "/" + o.name
	}
	return o.kind.name + " " + o.name
}

func (o *object) path() string { return o.collection(o.namespace) + "/" + o.name }

// uid stands for the UID of an object, which differs between the servers. No object has the UID of nil.
type uid struct{ *object }

// step is a request of a round. In its body, a uid stands for the UID of an object.
type step struct {
	method, path string
	contentType  string
	body         any
}

// planner makes the objects and the steps of a round.
type planner struct {
	*rand.Rand
	round      string // a name that no other round has
	namespaces [2]string
	objects    []*object
}

const (
	perRound = 14 // objects
	changes  = 12 // steps after the objects are made
)

// newPlanner returns the planner of a round. attempt is how often the round was played before.
func newPlanner(seed uint64, round, attempt int) *planner {
	p := &planner{Rand: rand.New(rand.NewPCG(seed, uint64(round))), round: fmt.Sprintf("r%d-%d-%d", seed, round, attempt)}
	p.namespaces = [2]string{p.round + "-a", p.round + "-b"}
	for i := range perRound {
		namespace := p.namespaces[0]
		if p.IntN(5) == 0 {
			namespace = p.namespaces[1]
		}
		p.objects = append(p.objects, &object{kinds[p.IntN(len(kinds))], fmt.Sprintf("%s-o%d", p.round, i), namespace})
	}
	return p
}

// one reports whether one of n cases holds.
func (p *planner) one(n int) bool { return p.IntN(n) == 0 }

func pick[T any](p *planner, of ...T) T { return of[p.IntN(len(of))] }

// start returns the steps that make the objects. All owners exist, so that no garbage goes before the last object is made.
func (p *planner) start() (steps []step) {
	for i, o := range p.objects {
		steps = append(steps, p.create(o, p.owners(o, p.objects[:i], false)))
	}
	return steps
}

// create returns the step that makes an object.
func (p *planner) create(o *object, owners []any) step {
	metadata := map[string]any{"name": o.name, "labels": map[string]any{"round": p.round}}
	if len(owners) > 0 {
		metadata["ownerReferences"] = owners
	}
	if f := p.finalizers(); len(f) > 0 {
		metadata["finalizers"] = f
	}
	body := map[string]any{"apiVersion": o.apiVersion, "kind": o.kind.name, "metadata": metadata}
	for name, v := range o.content {
		body[name] = v
	}
	if o.kind.name == "Pod" && p.one(3) { // deleted by its kubelet, of which there is none
		body["spec"] = pair.Put(body["spec"], []any{"nodeName"}, pair.Edit{Value: "n"})
	}
	return step{http.MethodPost, o.collection(o.namespace), "", body}
}

// finalizers returns those of an object, mostly none.
func (p *planner) finalizers() []any {
	switch p.IntN(12) {
	case 0, 1:
		return []any{"example.org/stay"}
	case 2:
		return []any{"orphan"}
	case 3:
		return []any{"foregroundDeletion"}
	case 4:
		return []any{"example.org/stay", pick(p, "orphan", "foregroundDeletion")}
	}
	return nil
}

// owners returns references of an object to some of the others. If faulty, some may be wrong.
func (p *planner) owners(o *object, others []*object, faulty bool) (out []any) {
	for range pick(p, 0, 1, 1, 1, 2, 2) { // with more, it is chance whether the last one waits until it is looked at
		if len(others) == 0 {
			break
		}
		to := others[p.IntN(len(others))]
		if to.namespaced && (!o.namespaced || to.namespace != o.namespace) && (!faulty || !p.one(6)) {
			continue
		}
		r := map[string]any{"apiVersion": to.apiVersion, "kind": to.kind.name, "name": to.name, "uid": uid{to}}
		if faulty {
			p.spoil(r)
		}
		if p.one(2) {
			r["blockOwnerDeletion"] = !p.one(4)
		}
		if p.one(4) {
			r["controller"] = !p.one(4)
		}
		out = append(out, r)
	}
	return out
}

// spoil makes something in a reference wrong, now and then.
func (p *planner) spoil(r map[string]any) {
	switch p.IntN(20) {
	case 0:
		r["uid"] = uid{}
	case 1:
		r["uid"] = uid{p.objects[p.IntN(len(p.objects))]}
	case 2:
		r["name"] = p.objects[p.IntN(len(p.objects))].name
	case 3:
		r["kind"] = pick(p, "Nope", "configmap", "ConfigMapList", "List", "TokenReview", "Namespace", "Thing", "Place")
	case 4:
		r["apiVersion"] = pick(p, "v1", "v2", "apps/v1", "apps/v1beta1", "garbage.example.org/v1", "garbage.example.org/v2", "nope.example.org/v1")
	}
}

// change returns a step that deletes or changes objects.
func (p *planner) change() step {
	o := p.objects[p.IntN(len(p.objects))]
	patch := func(member string, v any) step {
		return step{http.MethodPatch, o.path(), "application/merge-patch+json", map[string]any{"metadata": map[string]any{member: v}}}
	}
	switch n := p.IntN(19); {
	case n < 11:
		return step{http.MethodDelete, o.path(), "", p.deletion()}
	case n < 12:
		// Not in the foreground: then it is chance which of the objects is deleted when the first one is examined.
		return step{http.MethodDelete, o.collection(o.namespace) + "?labelSelector=round%3D" + p.round, "", nil}
	case n < 15:
		return patch("ownerReferences", p.owners(o, p.objects, true))
	case n < 17:
		return patch("finalizers", p.finalizers())
	}
	return p.create(o, p.owners(o, p.objects, true))
}

// end returns the steps that delete the namespaces.
func (p *planner) end() (steps []step) {
	for _, name := range p.namespaces {
		steps = append(steps, step{http.MethodDelete, "/api/v1/namespaces/" + name, "", nil})
	}
	return steps
}

// deletion returns the options of a delete.
func (p *planner) deletion() any {
	options := map[string]any{"apiVersion": "v1", "kind": "DeleteOptions"}
	switch p.IntN(8) {
	case 0:
		return nil
	case 1, 2:
		options["propagationPolicy"] = "Background"
	case 3, 4, 5:
		options["propagationPolicy"] = "Foreground"
	case 6:
		options["propagationPolicy"] = "Orphan"
	case 7:
		options["orphanDependents"] = p.one(2)
	}
	return options
}
