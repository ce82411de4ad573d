package extras

import (
	"encoding/json"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/util/csaupgrade"
	smd "sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/oracle/history"
	"github.com/deed-project/deed/oracle/peer"
	"github.com/deed-project/deed/ownership"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/builtin"
	"github.com/deed-project/deed/value"
)

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

var lastAppliedSet = smd.NewSet(smd.MakePathOrDie("metadata", "annotations", lastApplied))

// requests sends kubectl's requests to the reference.
type requests struct {
	t    *testing.T
	peer *peer.Peer
	live []byte
	n    int
}

func (q *requests) done(a peer.Answer) {
	q.t.Helper()
	if a.Err != nil {
		q.t.Fatal(a.Err)
	}
	q.live = a.Object
	q.n++
}

func (q *requests) decode() *unstructured.Unstructured {
	q.t.Helper()
	u := &unstructured.Unstructured{}
	if err := json.Unmarshal(q.live, &u.Object); err != nil {
		q.t.Fatal(err)
	}
	return u
}

func encode(t *testing.T, u *unstructured.Unstructured) []byte {
	t.Helper()
	text, err := json.Marshal(u.Object)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// apply sends all requests of kubectl apply --server-side.
func (q *requests) apply(config []byte, manager string) {
	q.t.Helper()
	q.done(q.peer.Apply(q.live, config, manager, true))
	u := q.decode()
	record, found := u.GetAnnotations()[lastApplied]
	appliers := csaupgrade.FindFieldsOwners(u.GetManagedFields(), metav1.ManagedFieldsOperationApply, lastAppliedSet)
	if manager == "kubectl" && found && len(appliers) == 0 {
		only := &unstructured.Unstructured{}
		only.SetGroupVersionKind(u.GroupVersionKind())
		only.SetName(u.GetName())
		only.SetNamespace(u.GetNamespace())
		only.SetAnnotations(map[string]string{lastApplied: record})
		q.done(q.peer.Apply(q.live, encode(q.t, only), "kubectl-last-applied", false))
		u = q.decode()
	}
	names := sets.New[string]()
	for _, e := range csaupgrade.FindFieldsOwners(u.GetManagedFields(), metav1.ManagedFieldsOperationUpdate, lastAppliedSet) {
		names.Insert(e.Manager)
	}
	if len(names) == 0 {
		return
	}
	if err := csaupgrade.UpgradeManagedFields(u, names, manager); err != nil {
		q.t.Fatal(err)
	}
	q.done(q.peer.Update(q.live, encode(q.t, u), manager))
	q.done(q.peer.Apply(q.live, config, manager, true))
}

// TestApplyAsKubectl moves an object of each kind from client-side apply to server-side apply with another manifest.
func TestApplyAsKubectl(t *testing.T) {
	all, err := history.Load("../../testdata/manifests")
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range all {
		for _, manager := range []string{"kubectl", "alpha"} {
			t.Run(kind.Name+"/"+manager, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { compareKubectl(t, kind, manager) })
			})
		}
	}
}

func compareKubectl(t *testing.T, kind history.Kind, manager string) {
	p, err := peer.New(peer.Config{GVK: kind.GVK})
	if err != nil {
		t.Fatal(err)
	}
	q := &requests{t: t, peer: p, live: kind.A}
	created := q.decode()
	annotations := created.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[lastApplied] = string(kind.A) + "\n"
	created.SetAnnotations(annotations)
	q.live = nil
	q.done(p.Update(nil, encode(t, created), "kubectl-client-side-apply"))
	live := parseObject(t, q.live)
	q.apply(kind.A2, manager)

	gvk := schema.GVK(kind.GVK)
	typ, _ := builtin.Catalog().Lookup(gvk)
	m, err := managedfields.New(managedfields.Config{GVK: gvk, Types: map[string]*schema.Type{gvk.APIVersion(): typ}})
	if err != nil {
		t.Fatal(err)
	}
	sent, err := ownership.ApplyAsKubectl(m, live, parseObject(t, kind.A2), manager, true)
	if err != nil {
		t.Fatal(err)
	}
	if len(sent) != q.n-1 || len(sent) < 3 {
		t.Errorf("deed sends %d requests, the reference %d", len(sent), q.n-1)
	}
	got, err := sent[len(sent)-1].Object.Value()
	if err != nil {
		t.Fatal(err)
	}
	want, err := parseObject(t, q.live).Value()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(show(want), show(got)); diff != "" {
		t.Errorf("(-reference +deed)\n%s", diff)
	}
}

func parseObject(t *testing.T, text []byte) managedfields.Object {
	t.Helper()
	o, err := managedfields.ParseObject(text)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// show returns v with one member per line for comparison.
func show(v value.Value) []string {
	var out []string
	for name, member := range v.Members() {
		if member.Kind() == value.KindObject && member.Len() > 0 {
			for _, line := range show(member) {
				out = append(out, name+"."+line)
			}
			continue
		}
		out = append(out, fmt.Sprintf("%s: %v", name, member))
	}
	return out
}
