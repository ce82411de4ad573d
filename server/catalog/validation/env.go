package validation

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// envSources are where the value of a variable may come from.
var envSources = []string{"fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef"}

// env refuses variables of a container.
func (w *podWalk) env(p place) {
	for i := range p.indexes() {
		e := p.item(i)
		if name := e.at("name"); w.present(name) {
			w.invalid(name, validation.IsRelaxedEnvVarName(name.Str())...)
		}
		if from := e.at("valueFrom"); from.is() {
			w.valueFrom(from, e.text("value"))
		}
	}
}

// valueFrom refuses where the value of a variable comes from, beside one that is written there.
func (w *podWalk) valueFrom(p place, written string) {
	n := 0
	for _, name := range envSources {
		source := p.at(name)
		if !source.is() {
			continue
		}
		n++
		switch name {
		case "fieldRef":
			w.fieldRef(source)
		case "configMapKeyRef", "secretKeyRef":
			w.keyRef(source)
		}
	}
	switch {
	case n == 0:
		w.invalidAs(p, "", "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`")
	case written != "":
		w.invalidAs(p, "", "may not be specified when `value` is not empty")
	case n > 1:
		w.invalidAs(p, "", "may not have more than one field specified at a time")
	}
}

// fieldRef refuses a reference to a field of the pod that no variable can have.
func (w *podWalk) fieldRef(p place) {
	at := p.at("fieldPath")
	if !w.present(p.at("apiVersion")) || !w.present(at) {
		return
	}
	name, rest, subscripted := strings.Cut(at.Str(), "['")
	key, closed := strings.CutSuffix(rest, "']")
	switch isMap := name == "metadata.labels" || name == "metadata.annotations"; {
	case p.text("apiVersion") != "v1":
		w.invalid(at, "error converting fieldPath: unsupported pod version: "+p.text("apiVersion"))
	case subscripted && closed && !isMap:
		w.invalid(at, "error converting fieldPath: field label does not support subscript: "+at.Str())
	case subscripted && closed:
		if name == "metadata.annotations" {
			key = strings.ToLower(key)
		}
		w.invalidAs(p, key, validation.IsQualifiedName(key)...)
	case slices.Contains(podFields, at.Str()) || at.Str() == "spec.host": // which is the node, by its name of before
	case isMap || slices.Contains(otherFields, at.Str()):
		w.onlyAmong(at, podFields...)
	default:
		w.invalid(at, "error converting fieldPath: field label not supported: "+at.Str())
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

// keyRef refuses a reference to a key of another object.
func (w *podWalk) keyRef(p place) {
	name := p.at("name")
	w.invalidAs(name, name.Str(), validation.IsDNS1123Subdomain(name.Str())...)
	if key := p.at("key"); w.present(key) {
		w.invalid(key, validation.IsConfigMapKey(key.Str())...)
	}
}

// envFrom refuses objects whose keys are variables.
func (w *podWalk) envFrom(p place) {
	for i := range p.indexes() {
		e := p.item(i)
		if prefix := e.at("prefix"); prefix.Str() != "" {
			w.invalid(prefix, validation.IsRelaxedEnvVarName(prefix.Str())...)
		}
		n := 0
		for _, name := range [...]string{"configMapRef", "secretRef"} {
			source := e.at(name)
			if !source.is() {
				continue
			}
			n++
			if named := source.at("name"); w.present(named) {
				w.subdomain(named)
			}
		}
		switch n {
		case 0:
			w.invalidAs(p, "", "must specify one of: `configMapRef` or `secretRef`")
		case 2:
			w.invalidAs(p, "", "may not have more than one field specified at a time")
		}
	}
}
