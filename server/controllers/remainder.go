package controllers

import (
	"context"
	stderrors "errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/value"
)

// remainder is what keeps a namespace that is being deleted. The zero remainder is nothing.
type remainder struct {
	unknown             []string // group versions whose resources are unknown, because their server is not available
	errs                []error  // of deletions
	objects, finalizers map[string]int
	wait                time.Duration // how long the objects may take to go, 0 if none is left that is expected to go
}

// fail notes the error of a deletion, if there is one.
func (r *remainder) fail(err error) {
	if err != nil {
		r.errs = append(r.errs, err)
	}
}

// add notes objects of a resource that are left. grace is how long those without finalizers may take to go. If none has a finalizer and grace
// is over, that is an error.
func (r *remainder) add(namespace string, resource kschema.GroupVersionResource, objects []value.Value, grace time.Duration) {
	if len(objects) == 0 {
		return
	}
	if r.objects == nil {
		r.objects, r.finalizers = map[string]int{}, map[string]int{}
	}
	r.objects[resource.Resource+"."+resource.Group] += len(objects)
	held := false
	for _, o := range objects {
		for f := range o.Get("metadata", "finalizers").Items() {
			r.finalizers[f.Str()]++
			held = true
		}
	}
	if grace == 0 && held {
		grace = finalizersTake
	}
	if r.wait = max(r.wait, grace); grace == 0 {
		r.fail(fmt.Errorf("unexpected items still remain in namespace: %s for gvr: %v", namespace, resource))
	}
}

// unfinished returns why a deletion is to be tried again soon: it failed, or resources are unknown. It returns nil if objects only wait.
func (r *remainder) unfinished() error {
	var errs []error
	if len(r.unknown) > 0 {
		errs = append(errs, fmt.Errorf("the resources of %s are unknown", strings.Join(r.unknown, ", ")))
	}
	return stderrors.Join(append(errs, r.errs...)...)
}

// again returns the time until the next look at objects that are left, 0 if none is left: half of what they may take, as in
// kube-controller-manager.
func (r *remainder) again() time.Duration {
	if r.wait == 0 {
		return 0
	}
	return r.wait.Truncate(2*time.Second)/2 + time.Second
}

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
	return d.Client.Send(ctx, http.MethodPatch, "/api/v1/namespaces/"+api.Meta(namespace, "name")+"/status"+asNamespaceController, patch)
}
