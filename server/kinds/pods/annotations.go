package pods

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/deed-project/deed/server/kinds/walk"
	"github.com/deed-project/deed/value"
)

// Annotations of pods and of templates that were fields before there were fields for them. kube-apiserver still reads them.
const (
	mirrorAnnotation      = "kubernetes.io/config.mirror"
	tolerationsAnnotation = "scheduler.alpha.kubernetes.io/tolerations"
	costAnnotation        = "controller.kubernetes.io/pod-deletion-cost"
	seccompAnnotation     = "seccomp.security.alpha.kubernetes.io/pod"
	seccompPrefix         = "container.seccomp.security.alpha.kubernetes.io/"
	appArmorPrefix        = "container.apparmor.security.beta.kubernetes.io/"
)

// Names of profiles in annotations.
const (
	unconfined     = "unconfined"
	runtimeDefault = "runtime/default"
	dockerDefault  = "docker/default" // an old name of the former, for seccomp alone
	localPrefix    = "localhost/"
)

// isMirror reports whether a pod with these metadata mirrors a static pod of a node.
func isMirror(metadata value.Value) bool {
	return !metadata.Get("annotations", mirrorAnnotation).IsAbsent()
}

// validateMeaning refuses annotations of a pod, or of a template, whose values mean nothing. Such a cost may stay if it is stored already.
func validateMeaning(r *walk.Report, p walk.Place, spec value.Value) {
	if p.Len() == 0 {
		return
	}
	key := func(name string) (walk.Place, bool) {
		v := p.Get(name)
		return p.Below(v, name, walk.IsKey), !v.IsAbsent()
	}
	if mirror, is := key(mirrorAnnotation); is && spec.Get("nodeName").Str() == "" {
		r.Invalid(mirror, "must set spec.nodeName if mirror pod annotation is set")
	}
	if text := p.Text(tolerationsAnnotation); text != "" {
		validateAnnotatedTolerations(r, p, text)
	}
	if cost, is := key(costAnnotation); is && !isCost(cost.Str()) && !hadWrongCost(r) {
		r.Invalid(cost, "must be a 32bit integer")
	}
	if profile := p.Get(seccompAnnotation); !profile.IsAbsent() {
		validateSeccompAnnotation(r, p.Below(profile, seccompAnnotation, walk.IsMember))
	}
	for name, profile := range p.Members() {
		if strings.HasPrefix(name, seccompPrefix) {
			validateSeccompAnnotation(r, p.Below(profile, name, walk.IsMember))
		}
	}
	var containers *walk.Names // found once there is a profile
	for name, profile := range p.Members() {
		container, is := strings.CutPrefix(name, appArmorPrefix)
		if !is {
			continue
		}
		if containers == nil {
			containers = containerNames(spec)
		}
		at := p.Below(profile, name, walk.IsKey)
		if !containers.Has(container) {
			r.InvalidAs(at, container, "container not found")
		}
		switch text := profile.Str(); {
		case text == "", text == runtimeDefault, text == unconfined, strings.HasPrefix(text, localPrefix):
		default:
			r.Invalid(at, fmt.Sprintf("invalid AppArmor profile name: %q", text))
		}
	}
}

// These types have the names and the fields of types of kube-apiserver, which its refusals show: of its package core, and from AvoidPods on of v1.
type (
	Toleration struct {
		Key               string
		Operator          TolerationOperator
		Value             string
		Effect            TaintEffect
		TolerationSeconds *int64
	}
	Taint struct {
		Key       string
		Value     string
		Effect    TaintEffect
		TimeAdded *metav1.Time
	}
	TolerationOperator string
	TaintEffect        string

	AvoidPods struct {
		PreferAvoidPods []PreferAvoidPodsEntry `json:"preferAvoidPods"`
	}
	PreferAvoidPodsEntry struct {
		PodSignature PodSignature `json:"podSignature"`
		EvictionTime metav1.Time  `json:"evictionTime"`
		Reason       string       `json:"reason"`
		Message      string       `json:"message"`
	}
	PodSignature struct {
		PodController *metav1.OwnerReference `json:"podController"`
	}
)

// validateAnnotatedTolerations validates tolerations as JSON.
func validateAnnotatedTolerations(r *walk.Report, p walk.Place, text string) {
	var all []Toleration
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		r.InvalidAs(p, tolerationsAnnotation, typesOf("core", err))
		return
	}
	items := make([]value.Value, len(all))
	for i, t := range all {
		items[i] = texts("key", t.Key, "operator", string(t.Operator), "value", t.Value, "effect", string(t.Effect))
		if t.TolerationSeconds != nil {
			items[i] = items[i].With("tolerationSeconds", value.Int(*t.TolerationSeconds))
		}
	}
	ValidateTolerations(r, p.Below(value.List(items...), tolerationsAnnotation, walk.IsMember), false)
}

// AnnotatedTaints returns the list of taints that an annotation of a Node has as JSON. The error has the text of kube-apiserver.
func AnnotatedTaints(text string) (value.Value, error) {
	var all []Taint
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		return value.Value{}, errors.New(typesOf("core", err))
	}
	items := make([]value.Value, len(all))
	for i, t := range all {
		items[i] = texts("key", t.Key, "value", t.Value, "effect", string(t.Effect))
		if t.TimeAdded != nil {
			items[i] = items[i].With("timeAdded", value.String(t.TimeAdded.UTC().Format(time.RFC3339)))
		}
	}
	return value.List(items...), nil
}

// texts returns an object of names and texts in turn, without those that are empty.
func texts(pairs ...string) value.Value {
	var members []value.Member
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			members = append(members, value.Member{Name: pairs[i], Value: value.String(pairs[i+1])})
		}
	}
	return value.Object(members...)
}

// AvoidedControllers returns the controllers whose pods a Node should not get, which an annotation has as JSON. An entry without a controller is
// nil. The error has the text of kube-apiserver.
func AvoidedControllers(text string) ([]*metav1.OwnerReference, error) {
	var avoid AvoidPods
	if err := json.Unmarshal([]byte(text), &avoid); err != nil {
		return nil, errors.New(typesOf("v1", err))
	}
	out := make([]*metav1.OwnerReference, len(avoid.PreferAvoidPods))
	for i, entry := range avoid.PreferAvoidPods {
		out[i] = entry.PodSignature.PodController
	}
	return out, nil
}

// typesOf returns the text of an error about JSON with the types of this package as those of another one.
func typesOf(pkg string, err error) string { return strings.ReplaceAll(err.Error(), "pods.", pkg+".") }

// isCost reports whether a text is an integer of 32 bits, without a plus sign and without zeros before it.
func isCost(text string) bool {
	if text == "" || text[0] != '-' && (text[0] < '1' || text[0] > '9') && text != "0" {
		return false
	}
	_, err := strconv.ParseInt(text, 10, 32)
	return err == nil
}

// hadWrongCost reports whether the object that is replaced has a wrong cost, too.
func hadWrongCost(r *walk.Report) bool {
	cost := r.LivePod().Get("metadata", "annotations", costAnnotation)
	return !cost.IsAbsent() && !isCost(cost.Str())
}

func validateSeccompAnnotation(r *walk.Report, p walk.Place) {
	switch profile := p.Str(); {
	case profile == runtimeDefault, profile == dockerDefault, profile == unconfined:
	case strings.HasPrefix(profile, localPrefix):
		file := p.WithValue(value.String(profile[len(localPrefix):]))
		validateDescending(r, file, file)
	default:
		r.Invalid(p, "must be a valid seccomp profile")
	}
}

// containerLists are the members of a pod's spec with containers, in the order in which kube-apiserver looks at annotations about them.
var containerLists = [...]string{"initContainers", "containers", "ephemeralContainers"}

func containerNames(spec value.Value) *walk.Names {
	var out walk.Names
	for _, list := range containerLists {
		for c := range spec.Get(list).Items() {
			out.Add(c.Get("name").Str())
		}
	}
	return &out
}

// validateAnnotationsChange refuses changes of annotations that a pod keeps as long as it lives, and wrong ones.
func validateAnnotationsChange(r *walk.Report, p walk.Place, was value.Value, spec value.Value) {
	forbid := func(name, does string) {
		at := p.Below(value.Value{}, name, walk.IsKey)
		if strings.HasPrefix(name, appArmorPrefix) {
			r.Forbidden(at, "may not "+does+" AppArmor annotations")
		}
		if name == mirrorAnnotation {
			r.Forbidden(at, "may not "+does+" mirror pod annotation")
		}
	}
	for name, text := range was.Members() {
		if !p.Get(name).Equal(text) {
			forbid(name, "remove or update")
		}
	}
	for name := range p.Members() {
		if was.Get(name).IsAbsent() {
			forbid(name, "add")
		}
	}
	validateMeaning(r, p, spec)
}

// validateProfilesMatch refuses profiles in fields that are not those of the annotations.
func validateProfilesMatch(r *walk.Report, spec walk.Place, annotations value.Value) {
	if annotations.Len() == 0 {
		return
	}
	const context, seccomp, appArmor = "securityContext", "seccompProfile", "appArmorProfile"
	matchProfile(r, spec.At(context).At(seccomp), annotations.Get(seccompAnnotation), "seccomp")
	eachContainer(spec, func(c walk.Place) {
		matchProfile(r, c.At(context).At(seccomp), annotations.Get(seccompPrefix+c.Text("name")), "seccomp")
	})
	if spec.Get("os", "name").Str() == "windows" {
		return
	}
	eachContainer(spec, func(c walk.Place) {
		profile := c.At(context).At(appArmor)
		if !profile.IsSet() {
			profile = profile.WithValue(spec.Get(context, appArmor))
		}
		matchProfile(r, profile, annotations.Get(appArmorPrefix+c.Text("name")), "apparmor")
	})
}

func eachContainer(spec walk.Place, do func(walk.Place)) {
	for _, name := range containerLists {
		list := spec.At(name)
		for i := range list.Indexes() {
			do(list.Index(i))
		}
	}
}

// matchProfile refuses a profile in a field that differs from that in an annotation, if both are there.
func matchProfile(r *walk.Report, p walk.Place, annotation value.Value, kind string) {
	if !p.IsSet() || annotation.IsAbsent() {
		return
	}
	text := annotation.Str()
	file, isLocal := strings.CutPrefix(text, localPrefix)
	matches := true
	switch p.Text("type") {
	case "Unconfined":
		matches = text == unconfined
	case "RuntimeDefault":
		matches = text == runtimeDefault || text == dockerDefault && kind == "seccomp"
	case "Localhost":
		if at := p.At("localhostProfile"); isLocal && (!at.IsSet() || at.Str() != file) {
			r.Forbidden(at, kind+" profile in annotation and field must match")
		}
		matches = isLocal
	}
	if !matches {
		r.Forbidden(p.At("type"), kind+" type in annotation and field must match")
	}
}
