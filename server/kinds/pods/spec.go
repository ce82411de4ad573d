package pods

import (
	"math"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/server/kinds/walk"
	"github.com/deed-project/deed/value"
)

// podWalk is a walk over the spec of a pod, or of the pods that are to be made of a template.
type podWalk struct {
	*walk.Report
	spec    walk.Place
	name    string     // of the pod, if it has one
	forPod  bool       // it is of a pod, and not of a template
	mirrors bool       // the pod mirrors a static pod
	volumes walk.Names // that may be mounted
	devices walk.Names // those of them that may be devices
	running walk.Names // of containers
	claims  walk.Names // of resource claims
	volume  volumeWalk

	sysAdmin *bool // see hadSysAdmin; nil if it was not asked for yet
}

// validateSpec validates the spec of a pod with its metadata, or that of a template, which are absent.
func validateSpec(r *walk.Report, spec walk.Place, metadata value.Value) {
	w := &podWalk{Report: r, spec: spec, name: metadata.Get("name").Str(), forPod: !metadata.IsAbsent(), mirrors: isMirror(metadata)}
	if grace := spec.At("terminationGracePeriodSeconds"); !grace.IsSet() {
		w.Required(grace, "")
	}
	w.volumeList(spec.At("volumes"))
	w.resourceClaims(spec.At("resourceClaims"))
	w.containers(spec.At("containers"))
	w.initContainers(spec.At("initContainers"))
	w.ephemeralContainers(spec.At("ephemeralContainers"))
	w.podResources(spec.At("resources"))
	w.hostNetwork(spec.At("containers"))
	w.Among(spec.At("restartPolicy"), "Always", "OnFailure", "Never")
	w.Among(spec.At("dnsPolicy"), "ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
	w.Labels(spec.At("nodeSelector"))
	w.podSecurity(spec.At("securityContext"))
	if shared := spec.At("shareProcessNamespace"); shared.Bool() && spec.Get("hostPID").Bool() {
		w.Invalid(shared, "ShareProcessNamespace and HostPID cannot both be enabled")
	}
	w.affinity(spec.At("affinity"))
	w.dns(spec.At("dnsConfig"), spec.Text("dnsPolicy"))
	w.gates()
	w.spread(spec.At("topologySpreadConstraints"))
	w.hostProcess()
	w.hostUsers()
	w.hostnameOverride(spec.At("hostnameOverride"))
	w.OptionalSubdomain(spec.At("serviceAccountName"))
	w.OptionalSubdomain(spec.At("nodeName"))
	w.Within(spec.At("activeDeadlineSeconds"), 1, math.MaxInt32)
	w.optionalLabel(spec.At("hostname"))
	w.optionalLabel(spec.At("subdomain"))
	ValidateTolerations(w.Report, spec.At("tolerations"), false)
	w.hostAliases(spec.At("hostAliases"))
	w.OptionalSubdomain(spec.At("priorityClassName"))
	if class := spec.At("runtimeClassName"); class.IsSet() {
		w.Subdomain(class)
	}
	if policy := spec.At("preemptionPolicy"); policy.IsSet() {
		w.Among(policy, "PreemptLowerPriority", "Never")
	}
	if overhead := spec.At("overhead"); overhead.IsSet() {
		w.Requirements(overhead.WithValue(value.Object(value.Member{Name: "limits", Value: overhead.Value})), (*walk.Report).ContainerResource)
	}
	w.system(spec.At("os"))
	w.fileVolumes()
	if w.forPod {
		w.onlyOfPods()
	}
}

// onlyOfPods validates what templates of pods may have otherwise.
func (w *podWalk) onlyOfPods() {
	if w.spec.Text("serviceAccountName") == "" {
		volumes := w.spec.At("volumes")
		for i := range volumes.Indexes() {
			volume := volumes.Index(i)
			projected := volume.At("projected")
			sources := projected.At("sources")
			for i := range sources.Indexes() {
				source := sources.Index(i)
				if token := source.At("serviceAccountToken"); token.IsSet() {
					w.Forbidden(token, "must not be specified when serviceAccountName is not set")
				}
			}
		}
	}
	w.Natural(w.spec.At("terminationGracePeriodSeconds"))
	for _, name := range [...]string{"containers", "initContainers"} {
		list := w.spec.At(name)
		for i := range list.Indexes() {
			w.trimmedImage(list.Index(i))
		}
	}
}

func (w *podWalk) trimmedImage(c walk.Place) {
	if image := c.At("image"); strings.TrimSpace(image.Str()) != image.Str() {
		w.Invalid(image, "must not have leading or trailing whitespace")
	}
}

// resourceClaims validates the claims of a pod, and notes their names.
func (w *podWalk) resourceClaims(p walk.Place) {
	for i := range p.Indexes() {
		if name := p.Item(i).Get("name").Str(); name != "" {
			w.claims.Add(name)
		}
	}
	var met walk.Names
	for i := range p.Indexes() {
		if w.mirrors {
			w.Add(field.Forbidden(field.NewPath(""), "static pods do not support resource claims"))
			continue
		}
		c := p.Index(i)
		name, of, template := c.At("name"), c.At("resourceClaimName"), c.At("resourceClaimTemplateName")
		switch {
		case name.Str() == "":
			w.Required(name, "")
		case !met.Add(name.Str()):
			w.Duplicate(name)
		default:
			w.Label(name)
		}
		if of.IsSet() && template.IsSet() {
			w.Invalid(c, "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified")
		}
		if !of.IsSet() && !template.IsSet() {
			w.Invalid(c, "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`")
		}
		for _, named := range [...]walk.Place{of, template} {
			if named.IsSet() {
				w.Subdomain(named)
			}
		}
	}
}

// gates validates what a pod waits for before it is scheduled, and before it is ready.
func (w *podWalk) gates() {
	ready, scheduled := w.spec.At("readinessGates"), w.spec.At("schedulingGates")
	for i := range ready.Indexes() {
		gate := ready.Index(i)
		w.LabelKey(gate.At("conditionType"))
	}
	var met walk.Names
	for i := range scheduled.Indexes() {
		gate := scheduled.Index(i)
		gate.Value = gate.Get("name")
		if w.LabelKey(gate); !met.Add(gate.Str()) {
			w.Add(field.Duplicate(gate.Path(), gate.Str()))
		}
	}
}

func (w *podWalk) hostnameOverride(p walk.Place) {
	if !p.IsSet() {
		return
	}
	if w.spec.Get("setHostnameAsFQDN").Bool() {
		w.Forbidden(p, "may not be specified when setHostnameAsFQDN is true")
	}
	if w.spec.Get("hostNetwork").Bool() {
		w.Forbidden(p, "may not be specified when hostNetwork is true")
	}
	if len(p.Str()) > 64 {
		w.Add(field.TooLong(p.Path(), "", 64))
	}
	w.Invalid(p, validation.IsDNS1123Subdomain(p.Str())...)
}

// fileVolumes refuses variables of files in volumes that are not of the pod, or no emptyDir.
func (w *podWalk) fileVolumes() { w.eachContainer(w.fileVolumesOf) }

func (w *podWalk) fileVolumesOf(c walk.Place) {
	env := c.At("env")
	for i := range env.Len() {
		if !walk.IsSet(env.Item(i).Get("valueFrom", "fileKeyRef")) {
			continue
		}
		e := env.Index(i)
		from := e.At("valueFrom")
		ref := from.At("fileKeyRef")
		name := ref.At("volumeName")
		switch volume := volumeNamed(w.spec.Get("volumes"), name.Str()); {
		case volume.IsAbsent():
			w.Add(field.NotFound(name.Path(), name.Str()))
		case !walk.IsSet(volume.Get("emptyDir")):
			w.InvalidAs(name, name.Str(), "referenced volume must be of type emptyDir")
		}
	}
}

// volumeNamed returns the last of the volumes that has a name.
func volumeNamed(volumes value.Value, name string) (out value.Value) {
	for v := range volumes.Items() {
		if v.Get("name").Str() == name {
			out = v
		}
	}
	return out
}

// hostNetwork refuses ports of a pod in the network of its node that are others there.
func (w *podWalk) hostNetwork(containers walk.Place) {
	if !w.spec.Get("hostNetwork").Bool() {
		return
	}
	for i := range containers.Indexes() {
		c := containers.Index(i)
		ports := c.At("ports")
		for i := range ports.Indexes() {
			port := ports.Index(i)
			on, in := port.At("hostPort"), port.Get("containerPort").Int()
			if (w.forPod || on.Int() != 0) && on.Int() != in {
				w.InvalidAs(on, on.Int(), "must match `containerPort` when `hostNetwork` is true")
			}
		}
	}
}

// optionalLabel refuses what is there and is no label of a domain name.
func (w *podWalk) optionalLabel(p walk.Place) {
	if p.Str() != "" {
		w.Label(p)
	}
}

// dns refuses how names are resolved.
func (w *podWalk) dns(p walk.Place, policy string) {
	servers := p.At("nameservers")
	if policy == "None" {
		if !p.IsSet() {
			w.Required(p, "must provide `dnsConfig` when `dnsPolicy` is None")
			return
		}
		if servers.Len() == 0 {
			w.Required(servers, "must provide at least one DNS nameserver when `dnsPolicy` is None")
			return
		}
	}
	if servers.Len() > 3 {
		w.Invalid(servers, "must not have more than 3 nameservers")
	}
	for i := range servers.Indexes() {
		w.Address(servers.Index(i), nil)
	}
	w.searches(p.At("searches"))
	options := p.At("options")
	for i := range options.Indexes() {
		if option := options.Index(i); option.Text("name") == "" {
			w.Required(option, "must not be empty")
		}
	}
}

// searches validates the domains in which names are looked for.
func (w *podWalk) searches(p walk.Place) {
	if p.Len() > 32 {
		w.Invalid(p, "must not have more than 32 search paths")
	}
	length := max(p.Len()-1, 0) // of the spaces between
	for search := range p.Items() {
		length += len(search.Str())
	}
	if length > 2048 {
		w.Invalid(p, "must not have more than 2048 characters (including spaces) in the search list")
	}
	for i := range p.Indexes() {
		search := p.Index(i)
		if text := search.Str(); text != "." {
			text = strings.TrimSuffix(text, ".")
			w.InvalidAs(search, text, validation.IsDNS1123SubdomainWithUnderscore(text)...)
		}
	}
}

// hostAliases refuses names of addresses that a pod knows.
func (w *podWalk) hostAliases(p walk.Place) {
	for i := range p.Indexes() {
		a := p.Index(i)
		w.Address(a.At("ip"), nil)
		hosts := a.At("hostnames")
		for i := range hosts.Indexes() {
			w.Subdomain(hosts.Index(i))
		}
	}
}

// resources validates what a container wants of a node.
func (w *podWalk) resources(p walk.Place) {
	w.Requirements(p, (*walk.Report).ContainerResource)
	w.claimsOf(p.At("claims"))
}

// claimsOf validates references to claims of the pod.
func (w *podWalk) claimsOf(p walk.Place) {
	var met walk.Names
	for i := range p.Indexes() {
		w.claimOf(p.Index(i), &met)
	}
}

// claimOf validates a reference of a container to a claim of its pod. met has the claims of other references, or their requests.
func (w *podWalk) claimOf(p walk.Place, met *walk.Names) {
	name, request := p.Text("name"), p.At("request")
	if name == "" {
		w.Required(p, "")
		return
	}
	if met.Has(name) {
		w.Add(field.Duplicate(p.Path(), name))
	} else {
		key := name
		if request.Str() != "" {
			w.Label(request)
			key += "/" + request.Str()
		}
		if met.Has(key) {
			w.Add(field.Duplicate(p.Path(), key))
		} else if request.Str() == "" {
			for other := range met.Each() {
				if of, _, ok := strings.Cut(other, "/"); ok && of == name {
					w.Add(field.Duplicate(p.Path(), name))
				}
			}
		}
		met.Add(key)
	}
	if w.claims.Has(name) {
		return
	}
	e := field.NotFound(p.Path(), name)
	e.Detail = "must be one of the names in pod.spec.resourceClaims which is empty"
	if all := slices.Sorted(w.claims.Each()); len(all) > 0 {
		e.Detail = "must be one of the names in pod.spec.resourceClaims: " + strings.Join(all, ", ")
	}
	w.Add(e)
}

// podResources validates the resources of all containers of a pod together.
func (w *podWalk) podResources(p walk.Place) {
	switch {
	case !p.IsSet():
		return
	case w.spec.Get("os", "name").Str() == "windows":
		w.Forbidden(p, "may not be set for a windows pod")
		return
	}
	if claims := p.At("claims"); claims.IsSet() {
		w.Forbidden(claims, "claims may not be set for Resources at pod-level")
	}
	w.Requirements(p, func(r *walk.Report, p walk.Place) {
		if name := p.Name(); r.ResourceName(p) && !walk.IsComputed(name) && !walk.IsHugePages(name) {
			r.OnlyNamed(p, "cpu", walk.HugePages, "memory")
		}
	})
	w.claimsOf(p.At("claims"))
	w.containersWithin(p)
}

// containersWithin refuses containers that need more than their pod has.
func (w *podWalk) containersWithin(p walk.Place) {
	requests, limits, containers := p.At("requests"), p.At("limits"), w.spec.At("containers")
	for i := range requests.Indexes() {
		r := requests.Entry(i)
		if sum, named := w.aggregate("requests", r.Name()); named && sum.Cmp(walk.Quantity(r.Value)) > 0 {
			w.Invalid(r, "must be greater than or equal to aggregate container requests of "+sum.String())
		}
	}
	for i := range limits.Indexes() {
		l := limits.Entry(i)
		if sum, named := w.aggregate("limits", l.Name()); named && walk.IsHugePages(l.Name()) && sum.Cmp(walk.Quantity(l.Value)) > 0 {
			w.Invalid(l, "must be greater than or equal to aggregate container limits of "+sum.String())
		}
	}
	for i := range containers.Indexes() {
		for name, limit := range containers.Item(i).Get("resources", "limits").Members() {
			if of := limits.Get(name); walk.IsSet(of) && walk.Compare(limit, of) > 0 {
				list := p.At("containers")
				item := list.Below(limit, "", i)
				named := item.Below(limit, name, walk.IsKey)
				w.Invalid(named.At("limits").WithValue(limit), "must be less than or equal to pod limits of "+of.Str())
			}
		}
	}
}

// aggregate returns what all containers of a pod need of a resource at once: those that run together, or one that runs first beside the
// sidecars before it, whichever is more. named is false if no container names the resource.
func (w *podWalk) aggregate(list, name string) (sum resource.Quantity, named bool) {
	var sidecars, most resource.Quantity
	for c := range w.spec.Get("containers").Items() {
		need := c.Get("resources", list, name)
		sum.Add(walk.Quantity(need))
		named = named || walk.IsSet(need)
	}
	first := false // whether a container that runs first names the resource
	for c := range w.spec.Get("initContainers").Items() {
		of := c.Get("resources", list, name)
		need := walk.Quantity(of)
		if c.Get("restartPolicy").Str() == "Always" {
			sidecars.Add(need)
			need = sidecars
		} else {
			need.Add(sidecars)
		}
		if first = first || walk.IsSet(of); first && need.Cmp(most) > 0 {
			most = need
		}
	}
	if sum.Add(sidecars); first && (!named || sum.Cmp(most) < 0) {
		sum = most
	}
	return sum, named || first
}
