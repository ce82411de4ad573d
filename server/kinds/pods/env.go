package pods

import (
	"slices"
	"strings"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/deed-project/deed/server/kinds/walk"
	"github.com/deed-project/deed/value"
)

// envSources are where the value of a variable may come from.
var envSources = []string{"fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef"}

// env refuses variables of a container.
func (w *podWalk) env(p walk.Place) {
	for i := range p.Indexes() {
		e := p.Index(i)
		if name := e.At("name"); w.Present(name) {
			w.Invalid(name, validation.IsRelaxedEnvVarName(name.Str())...)
		}
		if from := e.At("valueFrom"); from.IsSet() {
			w.valueFrom(from, e.Text("value"))
		}
	}
}

// valueFrom refuses where the value of a variable comes from, beside one that is written there.
func (w *podWalk) valueFrom(p walk.Place, written string) {
	n := 0
	for _, name := range envSources {
		source := p.At(name)
		if !source.IsSet() {
			continue
		}
		n++
		switch name {
		case "fieldRef":
			validateFieldRef(w.Report, source, podFields)
		case "resourceFieldRef":
			validateResourceRef(w.Report, source, false)
		case "fileKeyRef":
			w.fileRef(source)
		case "configMapKeyRef", "secretKeyRef":
			w.keyRef(source)
		}
	}
	switch {
	case n == 0:
		last := ", `secretKeyRef` or `fileKeyRef`"
		if w.Before(35) {
			last = " or `secretKeyRef`"
		}
		w.InvalidAs(p, "", "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`"+last)
	case written != "":
		w.InvalidAs(p, "", "may not be specified when `value` is not empty")
	case n > 1:
		w.InvalidAs(p, "", "may not have more than one field specified at a time")
	}
}

// validateFieldRef validates a reference to one of some fields of the pod.
func validateFieldRef(r *walk.Report, p walk.Place, fields []string) {
	at := p.At("fieldPath")
	if !r.Present(p.At("apiVersion")) || !r.Present(at) {
		return
	}
	name, rest, subscripted := strings.Cut(at.Str(), "['")
	key, closed := strings.CutSuffix(rest, "']")
	switch isMap := name == "metadata.labels" || name == "metadata.annotations"; {
	case p.Text("apiVersion") != "v1":
		r.Invalid(at, "error converting fieldPath: unsupported pod version: "+p.Text("apiVersion"))
	case subscripted && closed && name != "" && !isMap:
		r.Invalid(at, "error converting fieldPath: field label does not support subscript: "+at.Str())
	case subscripted && closed && isMap:
		if name == "metadata.annotations" {
			key = strings.ToLower(key)
		}
		r.InvalidAs(p, key, validation.IsQualifiedName(key)...)
	case at.Str() == "spec.host": // which is the node, by its name of before
		if !slices.Contains(fields, "spec.nodeName") {
			r.NotOneOf(at.WithValue(value.String("spec.nodeName")), fields...)
		}
	case slices.Contains(fields, at.Str()):
	case slices.Contains(podFields, at.Str()) || slices.Contains(volumeFields, at.Str()) || slices.Contains(otherFields, at.Str()):
		r.NotOneOf(at, fields...)
	default:
		r.Invalid(at, "error converting fieldPath: field label not supported: "+at.Str())
	}
}

// Fields of pods: those that a variable may have the value of, and others that are known.
var (
	podFields = []string{
		"metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName", "status.hostIP", "status.hostIPs",
		"status.podIP", "status.podIPs",
	}
	otherFields = []string{"spec.restartPolicy", "spec.schedulerName", "status.phase"}
)

// Resources of containers that variables and files may have, and the units in which they are.
var (
	resourceFields = []string{
		"limits.cpu", "limits.ephemeral-storage", "limits.memory", "requests.cpu", "requests.ephemeral-storage", "requests.memory",
	}
	byteUnits = []string{"1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"}
)

// validateResourceRef validates a reference to a resource of a container, which a file has to name.
func validateResourceRef(r *walk.Report, p walk.Place, named bool) {
	container, resource := p.At("containerName"), p.At("resource")
	_, of, _ := strings.Cut(resource.Str(), ".")
	pages := strings.HasPrefix(resource.Str(), "limits."+walk.HugePages) || strings.HasPrefix(resource.Str(), "requests."+walk.HugePages)
	switch {
	case named && container.Str() == "":
		r.Required(container, "")
	case resource.Str() == "":
		r.Required(resource, "")
	case !slices.Contains(resourceFields, resource.Str()) && !pages:
		r.NotOneOf(resource, resourceFields...)
	}
	divisor := p.At("divisor")
	if q := walk.Quantity(divisor.Value); q.IsZero() {
		return
	}
	const units = "only divisor's values 1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei are supported with the "
	inBytes := slices.Contains(byteUnits, divisor.Str())
	switch known := slices.Contains(resourceFields, resource.Str()); {
	case known && of == "cpu":
		if text := divisor.Str(); text != "1" && text != "1m" {
			r.InvalidAs(divisor, resource.Str(), "only divisor's values 1m and 1 are supported with the cpu resource")
		}
	case inBytes:
	case known && of == "memory":
		r.InvalidAs(divisor, resource.Str(), units+"memory resource")
	case known:
		r.InvalidAs(divisor, resource.Str(), units+"local ephemeral storage resource")
	case pages:
		r.InvalidAs(divisor, resource.Str(), units+"hugepages resource")
	}
}

// fileRef validates a reference to a variable in a file.
func (w *podWalk) fileRef(p walk.Place) {
	if key := p.At("key"); w.Present(key) {
		w.Invalid(key, validation.IsRelaxedEnvVarName(key.Str())...)
	}
	if name := p.At("volumeName"); w.Present(name) {
		w.Label(name)
	}
	if at := p.At("path"); w.Present(at) {
		noBacksteps(w.Report, at, at)
	}
}

// keyRef refuses a reference to a key of another object.
func (w *podWalk) keyRef(p walk.Place) {
	name := p.At("name")
	w.InvalidAs(name, name.Str(), validation.IsDNS1123Subdomain(name.Str())...)
	if key := p.At("key"); w.Present(key) {
		w.Invalid(key, validation.IsConfigMapKey(key.Str())...)
	}
}

// envFrom refuses objects whose keys are variables.
func (w *podWalk) envFrom(p walk.Place) {
	for i := range p.Indexes() {
		e := p.Index(i)
		if prefix := e.At("prefix"); prefix.Str() != "" {
			w.Invalid(prefix, validation.IsRelaxedEnvVarName(prefix.Str())...)
		}
		n := 0
		for _, name := range [...]string{"configMapRef", "secretRef"} {
			source := e.At(name)
			if !source.IsSet() {
				continue
			}
			n++
			if named := source.At("name"); w.Present(named) {
				w.InvalidAs(named, named.Str(), apivalidation.NameIsDNSSubdomain(named.Str(), true)...) // as a prefix of names
			}
		}
		switch n {
		case 0:
			w.InvalidAs(p, "", "must specify one of: `configMapRef` or `secretRef`")
		case 2:
			w.InvalidAs(p, "", "may not have more than one field specified at a time")
		}
	}
}
