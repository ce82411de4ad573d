package plugins

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"

	"github.com/deed-project/deed/server/admission"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
)

// Ranges is the plugin LimitRanger: LimitRanges give containers requests and limits, and bound those of containers, pods and claims.
type Ranges struct{ Store store.Store }

// rangerAnnotation says which requests and limits a pod got.
const rangerAnnotation = "kubernetes.io/limit-ranger"

// Mutate gives the containers of a pod the requests and limits that they lack.
func (p Ranges) Mutate(ctx context.Context, r *admission.Request) error {
	if r.Resource.GroupResource() != pods {
		return nil
	}
	ranges, err := p.rangesFor(ctx, r)
	for _, of := range ranges {
		r.Object = r.Object.With(withDefaults(r.Object.Content(), of))
	}
	return err
}

// Validate refuses a pod or claim that is out of a range.
//
// The constraints of one LimitRange are joined in the refusal, by their types and names: kube-apiserver has them in the order of a map.
func (p Ranges) Validate(ctx context.Context, r *admission.Request) error {
	ranges, err := p.rangesFor(ctx, r)
	if err != nil {
		return err
	}
	for _, of := range ranges {
		var errs []error
		for limit := range of.Get("spec", "limits").Items() {
			if r.Resource.GroupResource() == claims {
				errs = append(errs, claimErrors(limit, r.Object.Content())...)
			} else {
				errs = append(errs, podErrors(limit, r.Object.Content().Get("spec"))...)
			}
		}
		if err := utilerrors.NewAggregate(errs); err != nil {
			return forbid(r, err)
		}
	}
	return nil
}

// rangesFor returns the LimitRanges that bound the object of a request. New pods and resized ones are bounded, and all claims. Objects that
// are being deleted are not.
func (p Ranges) rangesFor(ctx context.Context, r *admission.Request) ([]value.Value, error) {
	isResize := r.Resource.GroupResource() == pods && r.Subresource == "resize" && r.Operation == admission.Update
	isBounded := isResize || isFor(r, pods, admission.Create) || isFor(r, claims, admission.Create, admission.Update)
	if !isBounded || isSet(r.Old.Content().Get("metadata", "deletionTimestamp")) {
		return nil, nil
	}
	ranges, err := Listed(ctx, p.Store, rangesPrefix+r.Namespace+"/")
	if err != nil {
		return nil, forbid(r, fmt.Errorf("unable to %s %v at this time because there was an error enforcing limit ranges", r.Operation, r.Resource))
	}
	return ranges, nil
}

// withDefaults returns a pod whose containers have the defaults of a LimitRange, and an annotation that says which.
func withDefaults(pod, of value.Value) value.Value {
	requests, limits := value.Object(), value.Object()
	for limit := range of.Get("spec", "limits").Items() {
		if limit.Get("type").Str() != "Container" {
			continue
		}
		for name, q := range limit.Get("defaultRequest").Members() {
			requests = requests.With(name, q)
		}
		for name, q := range limit.Get("default").Members() {
			limits = limits.With(name, q)
		}
	}
	if requests.Len()+limits.Len() == 0 {
		return pod
	}
	spec := pod.Get("spec")
	var said []string
	for _, list := range []struct{ name, called string }{{"containers", "container"}, {"initContainers", "init container"}} {
		if !isSet(spec.Get(list.name)) {
			continue
		}
		var containers []value.Value
		for c := range spec.Get(list.name).Items() {
			where := list.called + " " + c.Get("name").Str()
			resources := c.Get("resources")
			if !isSet(resources) {
				resources = value.Object()
			}
			resources, said = filled(resources, "requests", requests, " request for "+where, said)
			resources, said = filled(resources, "limits", limits, " limit for "+where, said)
			containers = append(containers, c.With("resources", resources))
		}
		spec = spec.With(list.name, value.List(containers...))
	}
	if len(said) == 0 {
		return pod
	}
	metadata := pod.Get("metadata")
	annotations := metadata.Get("annotations")
	if !isSet(annotations) {
		annotations = value.Object()
	}
	annotations = annotations.With(rangerAnnotation, value.String("LimitRanger plugin set: "+strings.Join(said, "; ")))
	return pod.With("spec", spec).With("metadata", metadata.With("annotations", annotations))
}

// filled returns resources whose member list has defaults, and said with what it got.
func filled(resources value.Value, list string, defaults value.Value, what string, said []string) (value.Value, []string) {
	had := resources.Get(list)
	if !isSet(had) {
		had = value.Object()
	}
	var names []string
	for name, q := range defaults.Members() {
		if had.Get(name).IsAbsent() {
			had, names = had.With(name, q), append(names, name)
		}
	}
	if len(names) == 0 {
		return resources, said
	}
	return resources.With(list, had), append(said, strings.Join(names, ", ")+what)
}

// claimErrors returns how a claim is out of a limit. Only requests of claims count.
func claimErrors(limit, claim value.Value) (errs []error) {
	if limit.Get("type").Str() != "PersistentVolumeClaim" {
		return nil
	}
	used := Usage{Requests: Quantities(claim.Get("spec", "resources", "requests"))}
	b := bound{kind: "PersistentVolumeClaim"}
	for b.resource, b.text = range texts(limit.Get("min")) {
		errs = append(errs, b.least(used))
	}
	for b.resource, b.text = range texts(limit.Get("max")) {
		errs = append(errs, b.mostRequested(used))
	}
	return errs
}

// podErrors returns how the containers of a pod, or the pod as a whole, are out of a limit.
func podErrors(limit, spec value.Value) (errs []error) {
	b := bound{kind: limit.Get("type").Str()}
	var bounded []Usage
	switch b.kind {
	case "Container":
		for c := range Containers(spec) {
			bounded = append(bounded, UsageOf(c.Get("resources")))
		}
	case "Pod":
		bounded = []Usage{PodUsage(spec)}
	}
	for _, used := range bounded {
		for b.resource, b.text = range texts(limit.Get("min")) {
			errs = append(errs, b.least(used))
		}
		for b.resource, b.text = range texts(limit.Get("max")) {
			errs = append(errs, b.most(used))
		}
		for b.resource, b.text = range texts(limit.Get("maxLimitRequestRatio")) {
			errs = append(errs, b.ratio(used))
		}
	}
	return errs
}

// bound is a bound of a LimitRange for one resource, such as the least memory of a container.
type bound struct {
	kind, resource, text string
}

// scaled returns quantities as integers that compare: in thousandths unless one is too large for that.
func scaled(quantities ...resource.Quantity) []int64 {
	out := make([]int64, len(quantities))
	for i, q := range quantities {
		out[i] = q.Value()
	}
	if slices.Max(out) > resource.MaxMilliValue {
		return out
	}
	for i, q := range quantities {
		out[i] = q.MilliValue()
	}
	return out
}

// of returns the bound, with the request and the limit of its resource, and whether these are set.
func (b bound) of(u Usage) (enforced, request, limit int64, hasRequest, hasLimit bool) {
	q, hasRequest := u.Requests[b.resource]
	l, hasLimit := u.Limits[b.resource]
	n := scaled(resource.MustParse(b.text), q, l)
	return n[0], n[1], n[2], hasRequest, hasLimit
}

// least returns how a usage is below a minimum.
func (b bound) least(u Usage) error {
	enforced, request, limit, hasRequest, hasLimit := b.of(u)
	said := fmt.Sprintf("minimum %s usage per %s is %s", b.resource, b.kind, b.text)
	switch {
	case !hasRequest:
		return fmt.Errorf("%s.  No request is specified", said)
	case request < enforced:
		return fmt.Errorf("%s, but request is %s", said, u.Requests.Text(b.resource))
	case hasLimit && limit < enforced:
		return fmt.Errorf("%s, but limit is %s", said, u.Limits.Text(b.resource))
	}
	return nil
}

// most returns how a usage is above a maximum.
func (b bound) most(u Usage) error {
	enforced, request, limit, hasRequest, hasLimit := b.of(u)
	said := fmt.Sprintf("maximum %s usage per %s is %s", b.resource, b.kind, b.text)
	switch {
	case !hasLimit:
		return fmt.Errorf("%s.  No limit is specified", said)
	case limit > enforced:
		return fmt.Errorf("%s, but limit is %s", said, u.Limits.Text(b.resource))
	case hasRequest && request > enforced:
		return fmt.Errorf("%s, but request is %s", said, u.Requests.Text(b.resource))
	}
	return nil
}

// mostRequested returns how a request is above a maximum.
func (b bound) mostRequested(u Usage) error {
	enforced, request, _, hasRequest, _ := b.of(u)
	said := fmt.Sprintf("maximum %s usage per %s is %s", b.resource, b.kind, b.text)
	switch {
	case !hasRequest:
		return fmt.Errorf("%s.  No request is specified", said)
	case request > enforced:
		return fmt.Errorf("%s, but request is %s", said, u.Requests.Text(b.resource))
	}
	return nil
}

// ratio returns how a limit is too large for its request.
func (b bound) ratio(u Usage) error {
	_, request, limit, hasRequest, hasLimit := b.of(u)
	said := fmt.Sprintf("%s max limit to request ratio per %s is %s", b.resource, b.kind, b.text)
	switch {
	case !hasRequest || request == 0:
		return fmt.Errorf("%s, but no request is specified or request is 0", said)
	case !hasLimit || limit == 0:
		return fmt.Errorf("%s, but no limit is specified or limit is 0", said)
	}
	observed, most := float64(limit)/float64(request), resource.MustParse(b.text)
	isAbove := observed > float64(most.Value())
	if most.Value() <= resource.MaxMilliValue {
		isAbove = observed*1000 > float64(most.MilliValue())
	}
	if isAbove {
		return fmt.Errorf("%s, but provided ratio is %f", said, observed)
	}
	return nil
}

// texts yields the texts of a map by name.
func texts(m value.Value) func(func(string, string) bool) {
	return func(yield func(string, string) bool) {
		for name, q := range m.Members() {
			if !yield(name, q.Str()) {
				return
			}
		}
	}
}
