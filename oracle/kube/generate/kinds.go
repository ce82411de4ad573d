package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/deed-project/deed/oracle/kube/scheme"
)

// kind is what the embedded data says of one kind in one version.
type kind struct {
	Group   string `json:"group"`
	Version string `json:"version"`
	Kind    string `json:"kind"`
	Form    string `json:"form"`  // its struct type
	Since   string `json:"since"` // the release that brought the version
	// Removed is the release that no longer serves the version, if it is out, and Replacement the kind to use instead.
	Removed     string `json:"removed,omitempty"`
	Replacement string `json:"replacement,omitempty"`
	// Served is default, or option for what --runtime-config turns on; empty for what is not served.
	Served       string                `json:"served,omitempty"`
	Hub          bool                  `json:"hub,omitempty"` // whether objects are held in this version
	Resource     string                `json:"resource,omitempty"`
	Singular     string                `json:"singular,omitempty"`
	ShortNames   []string              `json:"shortNames,omitempty"`
	Categories   []string              `json:"categories,omitempty"`
	Namespaced   bool                  `json:"namespaced,omitempty"`
	Verbs        []string              `json:"verbs,omitempty"`
	Subresources []subresource         `json:"subresources,omitempty"`
	Reset        map[string][][]string `json:"reset,omitempty"` // by subresource, the paths that it does not write
}

type subresource struct {
	Name    string   `json:"name"`
	Group   string   `json:"group,omitempty"`
	Version string   `json:"version,omitempty"`
	Kind    string   `json:"kind"`
	Verbs   []string `json:"verbs"`
}

// lifecycle is what Kubernetes says of a version of a kind.
type lifecycle interface {
	APILifecycleIntroduced() (major, minor int)
}

type removed interface {
	APILifecycleRemoved() (major, minor int)
}

type replaced interface {
	APILifecycleReplacement() schema.GroupVersionKind
}

// collect returns every kind of the scheme that has metadata, sorted, and the forms of all of them.
func collect(d discovery, resets resetFields) ([]kind, forms) {
	f := forms{}
	for _, t := range annotated {
		f.add(t)
	}
	var kinds []kind
	for gvk, t := range scheme.All().AllKnownTypes() {
		if _, ok := reflect.PointerTo(t).MethodByName("GetObjectMeta"); !ok || gvk.Version == runtime.APIVersionInternal {
			continue
		}
		k := kind{Group: gvk.Group, Version: gvk.Version, Kind: gvk.Kind, Form: f.add(t)}
		k.live(t)
		if r, ok := d[gvk]; ok {
			k.serve(r)
			k.Reset = resets.of(gvk)
		}
		kinds = append(kinds, k)
	}
	slices.SortFunc(kinds, func(a, b kind) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Version, b.Version))
	})
	chooseHubs(kinds)
	chooseReplacements(kinds)
	return kinds, f
}

// annotated are types that stand in no object, but as JSON in annotations.
var annotated = []reflect.Type{
	reflect.TypeFor[autoscalingv1.MetricSpec](), reflect.TypeFor[autoscalingv1.MetricStatus](),
	reflect.TypeFor[autoscalingv1.HorizontalPodAutoscalerCondition](),
}

// currentMinor is the release that the data describes. What Kubernetes plans for later ones may change.
const currentMinor = 37

var current = release(1, currentMinor)

// chooseHubs marks the version of each kind in which objects are stored: the first by priority that is served and
// is not new in this release, or else any.
func chooseHubs(kinds []kind) {
	type groupKind struct{ group, kind string }
	best := map[groupKind]int{}
	rank := func(k kind) int {
		versions := scheme.All().PrioritizedVersionsForGroup(k.Group)
		r := slices.IndexFunc(versions, func(gv schema.GroupVersion) bool { return gv.Version == k.Version })
		if r < 0 {
			r = 100
		}
		if k.Served == "" {
			r += 1000
		}
		if k.Since == current { // the release before must be able to read what is stored
			r += 100
		}
		return r
	}
	for i, k := range kinds {
		gk := groupKind{k.Group, k.Kind}
		if j, ok := best[gk]; !ok || rank(k) < rank(kinds[j]) {
			best[gk] = i
		}
	}
	for _, i := range best {
		kinds[i].Hub = true
	}
}

func (k *kind) live(t reflect.Type) {
	object := reflect.New(t).Interface()
	if l, ok := object.(lifecycle); ok {
		k.Since = release(l.APILifecycleIntroduced())
	}
	if l, ok := object.(removed); ok {
		if major, minor := l.APILifecycleRemoved(); major == 1 && minor <= currentMinor {
			k.Removed = release(major, minor)
		}
	}
	if l, ok := object.(replaced); ok {
		gvk := l.APILifecycleReplacement()
		if !strings.HasSuffix(k.Kind, "List") { // Kubernetes names a list in one place, by mistake
			gvk.Kind = strings.TrimSuffix(gvk.Kind, "List")
		}
		k.Replacement = gvk.GroupVersion().String() + " " + gvk.Kind
	}
}

// chooseReplacements follows replacements until they lead to a kind that is served, be it as a subresource. Where they lead
// to none, the same kind counts in the version that servers serve by default.
func chooseReplacements(kinds []kind) {
	byName, served, stable := map[string]kind{}, map[string]bool{}, map[string]string{}
	for _, k := range kinds {
		byName[k.name()] = k
		served[k.name()] = served[k.name()] || k.Served != ""
		for _, s := range k.Subresources {
			served[kind{Group: s.Group, Version: s.Version, Kind: s.Kind}.name()] = true
		}
		if k.Served == "default" && (k.Hub || stable[k.Group+"/"+k.Kind] == "") {
			stable[k.Group+"/"+k.Kind] = k.name()
		}
	}
	for i := range kinds {
		k := &kinds[i]
		for range kinds { // as many steps at most, lest they lead round
			if next := byName[k.Replacement].Replacement; !served[k.Replacement] && next != "" {
				k.Replacement = next
			}
		}
		if k.Removed != "" && !served[k.Replacement] {
			k.Replacement = stable[k.Group+"/"+k.Kind]
		}
	}
}

// name returns the kind as replacements name it.
func (k kind) name() string {
	return schema.GroupVersion{Group: k.Group, Version: k.Version}.String() + " " + k.Kind
}

func release(major, minor int) string { return fmt.Sprintf("v%d.%d", major, minor) }

func (k *kind) serve(r resource) {
	k.Served, k.Resource, k.Singular, k.ShortNames = r.served, r.Resource, r.SingularResource, r.ShortNames
	k.Categories, k.Namespaced, k.Verbs = r.Categories, r.Scope == "Namespaced", r.Verbs
	for _, s := range r.Subresources {
		sub := subresource{Name: s.Subresource, Verbs: s.Verbs}
		if s.ResponseKind != nil {
			sub.Kind = s.ResponseKind.Kind
			if s.ResponseKind.Group != "" || s.ResponseKind.Version != "" {
				sub.Group, sub.Version = s.ResponseKind.Group, s.ResponseKind.Version
			}
		}
		k.Subresources = append(k.Subresources, sub)
	}
}

// discovery is what servers say of the resources that they serve.
type discovery map[schema.GroupVersionKind]resource

type resource struct {
	Resource         string
	SingularResource string
	ResponseKind     *groupVersionKind
	Scope            string
	ShortNames       []string
	Categories       []string
	Verbs            []string
	Subresources     []struct {
		Subresource  string
		ResponseKind *groupVersionKind
		Verbs        []string
	}
	served string
}

type groupVersionKind struct{ Group, Version, Kind string }

type groupList struct {
	Items []struct {
		Metadata struct{ Name string }
		Versions []struct {
			Version   string
			Resources []resource
		}
	}
}

// add adds the resources of a discovery document that are not known yet.
func (d discovery) add(text []byte, served string) error {
	var list groupList
	if err := json.Unmarshal(text, &list); err != nil {
		return err
	}
	for _, group := range list.Items {
		for _, version := range group.Versions {
			for _, r := range version.Resources {
				gvk := schema.GroupVersionKind{Group: group.Metadata.Name, Version: version.Version, Kind: r.ResponseKind.Kind}
				if _, ok := d[gvk]; !ok {
					r.served = served
					d[gvk] = r
				}
			}
		}
	}
	return nil
}

// resetFields has, by group/kind, subresource and version, the paths that an endpoint does not write.
type resetFields map[string]map[string]map[string][][]string

// of returns the paths of a kind by subresource.
func (r resetFields) of(gvk schema.GroupVersionKind) map[string][][]string {
	out := map[string][][]string{}
	for sub, versions := range r[gvk.Group+"/"+gvk.Kind] {
		if paths, ok := versions[gvk.GroupVersion().String()]; ok {
			out[sub] = paths
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}
