package controllers

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
)

// remainder is what keeps a namespace that is being deleted. The zero remainder is nothing.
type remainder struct {
	unknown             []string // group versions whose resources are unknown, because their server is not available
	errs                []error  // of deletions
	objects, finalizers map[string]int
}

// fail notes the error of a deletion, if there is one.
func (r *remainder) fail(err error) {
	if err != nil {
		r.errs = append(r.errs, err)
	}
}

// addRecords notes stored objects of a resource that are left.
func (r *remainder) addRecords(resource kschema.GroupResource, records []store.Record) {
	objects := make([]value.Value, 0, len(records))
	for _, record := range records {
		stored, err := managedfields.ParseObject(record.Text)
		r.fail(err)
		objects = append(objects, stored.Content)
	}
	r.add(resource, objects)
}

// add notes objects of a resource that are left.
func (r *remainder) add(resource kschema.GroupResource, objects []value.Value) {
	if len(objects) == 0 {
		return
	}
	if r.objects == nil {
		r.objects, r.finalizers = map[string]int{}, map[string]int{}
	}
	r.objects[resource.Resource+"."+resource.Group] += len(objects)
	for _, o := range objects {
		for f := range o.Get("metadata", "finalizers").Items() {
			r.finalizers[f.Str()]++
		}
	}
}

// isAny reports whether something keeps the namespace.
func (r *remainder) isAny() bool { return len(r.unknown)+len(r.errs)+len(r.objects) > 0 }

// conditions returns what the status of the namespace says of the remainder, in the words of kube-controller-manager.
func (r *remainder) conditions() []value.Value {
	text := func(name, s string) value.Member { return value.Member{Name: name, Value: value.String(s)} }
	condition := func(kind, reason, problem, fine, message string) value.Value {
		if problem != "" {
			return value.Object(text("type", kind), text("status", "True"), text("reason", reason), text("message", problem))
		}
		return value.Object(text("type", kind), text("status", "False"), text("reason", fine), text("message", message))
	}
	return []value.Value{
		condition("NamespaceDeletionDiscoveryFailure", "DiscoveryFailed", r.undiscovered(), "ResourcesDiscovered", "All resources successfully discovered"),
		condition("NamespaceDeletionGroupVersionParsingFailure", "", "", "ParsedGroupVersions", "All legacy kube types successfully parsed"),
		condition("NamespaceDeletionContentFailure", "ContentDeletionFailed", r.failed(), "ContentDeleted",
			"All content successfully deleted, may be waiting on finalization"),
		condition("NamespaceContentRemaining", "SomeResourcesRemain",
			counted("Some resources are remaining: ", "%s has %d resource instances", r.objects), "ContentRemoved", "All content successfully removed"),
		condition("NamespaceFinalizersRemaining", "SomeFinalizersRemain",
			counted("Some content in the namespace has finalizers remaining: ", "%s in %d resource instances", r.finalizers),
			"ContentHasNoFinalizers", "All content-preserving finalizers finished"),
	}
}

// undiscovered returns which resources are unknown, "" if all are known.
func (r *remainder) undiscovered() string {
	if len(r.unknown) == 0 {
		return ""
	}
	var stale []string
	for _, gv := range r.unknown {
		stale = append(stale, gv+": stale GroupVersion discovery: "+gv)
	}
	return fmt.Sprintf("Discovery failed for some groups, %d failing: unable to retrieve the complete list of server APIs: %s",
		len(stale), strings.Join(stale, ", "))
}

// failed returns the errors of deletions, "" if there are none.
func (r *remainder) failed() string {
	if len(r.errs) == 0 {
		return ""
	}
	var texts []string
	for _, err := range r.errs {
		texts = append(texts, err.Error())
	}
	slices.Sort(texts)
	return fmt.Sprintf("Failed to delete all resource types, %d remaining: %s", len(texts), strings.Join(texts, ", "))
}

// counted returns numbers by name as a message, "" if there are none.
func counted(begin, each string, of map[string]int) string {
	var texts []string
	for _, name := range slices.Sorted(maps.Keys(of)) {
		texts = append(texts, fmt.Sprintf(each, name, of[name]))
	}
	if len(texts) == 0 {
		return ""
	}
	return begin + strings.Join(texts, ", ")
}

// reportNamespace writes what keeps a namespace into its status, unless the status says so already.
func (d *Deletions) reportNamespace(ctx context.Context, namespace value.Value, left *remainder) error {
	had := map[string]value.Value{}
	var conditions []value.Value
	for c := range namespace.Get("status", "conditions").Items() {
		had[c.Get("type").Str()] = c
		conditions = append(conditions, c)
	}
	isChanged := false
	for _, c := range left.conditions() {
		was, known := had[c.Get("type").Str()]
		at := value.String(api.Timestamp(d.Now()))
		if known && was.Get("status").Equal(c.Get("status")) {
			at = was.Get("lastTransitionTime")
		}
		if c = c.With("lastTransitionTime", at); known && was.Equal(c) {
			continue
		}
		isChanged = true
		i := slices.IndexFunc(conditions, func(o value.Value) bool { return o.Get("type").Equal(c.Get("type")) })
		if i < 0 {
			conditions = append(conditions, c)
		} else {
			conditions[i] = c
		}
	}
	if !isChanged {
		return nil
	}
	patch := value.Object(value.Member{Name: "status", Value: value.Object(value.Member{Name: "conditions", Value: value.List(conditions...)})})
	return d.Client.Send(ctx, http.MethodPatch, "/api/v1/namespaces/"+api.Meta(namespace, "name")+"/status?fieldManager=kube-controller-manager", patch)
}
