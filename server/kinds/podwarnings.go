package kinds

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/deed-project/deed/value"
)

// Warnings of what pods use although it is deprecated: labels of nodes, annotations, and files of volumes that replace each other.

// deprecatedLabels are labels of nodes, with what is said of them.
var deprecatedLabels = map[string]string{
	"beta.kubernetes.io/arch":                       `deprecated since v1.14; use "kubernetes.io/arch" instead`,
	"beta.kubernetes.io/os":                         `deprecated since v1.14; use "kubernetes.io/os" instead`,
	"failure-domain.beta.kubernetes.io/region":      `deprecated since v1.17; use "topology.kubernetes.io/region" instead`,
	"failure-domain.beta.kubernetes.io/zone":        `deprecated since v1.17; use "topology.kubernetes.io/zone" instead`,
	"beta.kubernetes.io/instance-type":              `deprecated since v1.17; use "node.kubernetes.io/instance-type" instead`,
	"app.kubernetes.io/created-by":                  "deprecated since v1.9",
	"scheduler.alpha.kubernetes.io/preferAvoidPods": "deprecated since v1.22; use Taints and Tolerations instead",
	"node-role.kubernetes.io/master":                `use "node-role.kubernetes.io/control-plane" instead`,
}

// nodeTerm warns of deprecated labels in the expressions of a term about nodes, and of values that no label has if checked is set.
func (w *warner) nodeTerm(p place, checked bool) {
	expressions := p.at("matchExpressions")
	for i := range expressions.indexes() {
		e := expressions.item(i)
		key, values := e.at("key"), e.at("values")
		if said, deprecated := deprecatedLabels[key.Str()]; deprecated {
			w.add("%s: %s is %s", key.path(), key.Str(), said)
		}
		for i := range values.Len() {
			if !checked {
				break
			}
			v := values.item(i)
			for _, wrong := range validation.IsValidLabelValue(v.Str()) {
				w.add("%s: %s is invalid, %s", v.path(), v.Str(), wrong)
			}
		}
	}
}

// nodes warns of deprecated labels by which a pod selects nodes.
func (w *warner) nodes(spec place) {
	selector := spec.at("nodeSelector")
	for i := range selector.indexes() {
		if label := selector.entry(i); deprecatedLabels[label.name()] != "" {
			w.add("%s: %s", label.path(), deprecatedLabels[label.name()])
		}
	}
	affinity := spec.at("affinity").at("nodeAffinity")
	terms := affinity.at("requiredDuringSchedulingIgnoredDuringExecution").at("nodeSelectorTerms")
	for i := range terms.indexes() {
		w.nodeTerm(terms.item(i), false)
	}
	preferred := affinity.at("preferredDuringSchedulingIgnoredDuringExecution")
	for i := range preferred.indexes() {
		w.nodeTerm(preferred.item(i).at("preference"), true)
	}
}

// podAnnotations are annotations of pods that have no effect any more.
var podAnnotations = [...][2]string{
	{"scheduler.alpha.kubernetes.io/critical-pod", `non-functional in v1.16+; use the "priorityClassName" field instead`},
	{"security.alpha.kubernetes.io/sysctls", `non-functional in v1.11+; use the "sysctls" field instead`},
	{"security.alpha.kubernetes.io/unsafe-sysctls", `non-functional in v1.11+; use the "sysctls" field instead`},
}

// annotation warns of an annotation if it is there.
func (w *warner) annotation(annotations place, name, said string) {
	if v := annotations.Get(name); !v.IsAbsent() {
		w.add("%s: %s", annotations.below(v, name, isKey).path(), said)
	}
}

const noSeccomp = `non-functional in v1.27+; use the "seccompProfile" field instead`

// profiles warns of annotations with security profiles of a container. Annotations for AppArmor are in templates only: those of pods become
// fields.
func (w *warner) profiles(annotations, c, spec place, template bool) {
	security := c.Get("securityContext")
	name := c.text("name")
	if !isSet(security.Get("seccompProfile")) {
		w.annotation(annotations, "container.seccomp.security.alpha.kubernetes.io/"+name, noSeccomp)
	}
	key := "container.apparmor.security.beta.kubernetes.io/" + name
	of := spec.Get("securityContext", "appArmorProfile")
	if said := annotations.Get(key); template && !isSet(security.Get("appArmorProfile")) && !(isSet(of) && of.Equal(appArmor(said.Str()))) {
		w.annotation(annotations, key, `deprecated since v1.30; use the "appArmorProfile" field instead`)
	}
}

// appArmor returns the profile that an annotation names.
func appArmor(text string) value.Value {
	profile := func(typ string) value.Value {
		return value.Object(value.Member{Name: "type", Value: value.String(typ)})
	}
	file, local := strings.CutPrefix(text, "localhost/")
	switch {
	case text == "unconfined":
		return profile("Unconfined")
	case text == "runtime/default":
		return profile("RuntimeDefault")
	case local && file != "":
		return profile("Localhost").With("localhostProfile", value.String(file))
	}
	return value.Value{}
}

// projectedFile is a file of a volume, and where it comes from: "" if the volume has one source.
type projectedFile struct{ path, source string }

func (f projectedFile) String() string {
	if f.source == "" {
		return fmt.Sprintf("%q", f.path)
	}
	return fmt.Sprintf("%q (%s)", f.path, f.source)
}

// covers reports whether a file is the other one or above it.
func (f projectedFile) covers(other projectedFile) bool {
	return strings.HasPrefix(other.path+"/", f.path+"/")
}

// overlapping warns of files of a volume that are at one path, or below each other.
func (w *warner) overlapping(volume value.Value, kind string, files []projectedFile) {
	var had []projectedFile
	for _, f := range files {
		f.path = strings.TrimRight(f.path, "/")
		for _, other := range had {
			if f.path != "" && other.path != "" && (f.covers(other) || other.covers(f)) && len(w.texts) < enough {
				w.add("volume %q (%s): overlapping paths: %s with %s", volume.Get("name").Str(), kind, f, other)
			}
		}
		if len(w.texts) < enough { // otherwise there are as many pairs as files squared
			had = append(had, f)
		}
	}
}

// filesOf returns the files of the items of a source.
func filesOf(of value.Value, source string) (out []projectedFile) {
	for item := range of.Get("items").Items() {
		out = append(out, projectedFile{item.Get("path").Str(), source})
	}
	return out
}

// files warns of files of a volume that overlap.
func (w *warner) files(volume value.Value) {
	if of := volume.Get("configMap"); isSet(of) {
		w.overlapping(volume, fmt.Sprintf("ConfigMap %q", of.Get("name").Str()), filesOf(of, ""))
	}
	if of := volume.Get("secret"); isSet(of) {
		w.overlapping(volume, fmt.Sprintf("Secret %q", of.Get("secretName").Str()), filesOf(of, ""))
	}
	if of := volume.Get("downwardAPI"); isSet(of) {
		w.overlapping(volume, "DownwardAPI", filesOf(of, ""))
	}
	var all []projectedFile
	for source := range volume.Get("projected", "sources").Items() {
		if isEmpty(source) {
			w.add("volume %q (Projected) has no sources provided", volume.Get("name").Str())
			continue
		}
		all = append(all, sourceFiles(source)...)
	}
	w.overlapping(volume, "Projected", all)
}

// sourceFiles returns the files of a source of a projected volume. Of several sources in one, the first counts.
func sourceFiles(s value.Value) []projectedFile {
	of := func(name string) (value.Value, bool) { return s.Get(name), isSet(s.Get(name)) }
	if v, ok := of("configMap"); ok && isSet(v.Get("items")) {
		return filesOf(v, fmt.Sprintf("ConfigMap %q", v.Get("name").Str()))
	}
	if v, ok := of("secret"); ok && isSet(v.Get("items")) {
		return filesOf(v, fmt.Sprintf("Secret %q", v.Get("name").Str()))
	}
	if v, ok := of("downwardAPI"); ok && isSet(v.Get("items")) {
		return filesOf(v, "DownwardAPI")
	}
	if v, ok := of("serviceAccountToken"); ok {
		return []projectedFile{{v.Get("path").Str(), "ServiceAccountToken"}}
	}
	if v, ok := of("clusterTrustBundle"); ok {
		name := v.Get("name")
		if !isSet(name) {
			name = v.Get("signerName")
		}
		return []projectedFile{{v.Get("path").Str(), fmt.Sprintf("ClusterTrustBundle %q", name.Str())}}
	}
	v, _ := of("podCertificate")
	var out []projectedFile
	for _, part := range [...][2]string{{"certificateChainPath", "chain"}, {"keyPath", "key"}, {"credentialBundlePath", "credential bundle"}} {
		if path := v.Get(part[0]).Str(); path != "" {
			out = append(out, projectedFile{path, "PodCertificate " + part[1]})
		}
	}
	return out
}

// ip warns of an IP address that is not in the standard form.
func (w *warner) ip(p place) {
	if p.Str() != "" {
		w.texts = append(w.texts, validation.GetWarningsForIP(p.path(), p.Str())...)
	}
}

// cidr warns of a range of addresses that is not in the standard form.
func (w *warner) cidr(p place) {
	if p.Str() != "" {
		w.texts = append(w.texts, validation.GetWarningsForCIDR(p.path(), p.Str())...)
	}
}
