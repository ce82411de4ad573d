package pods

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/server/kinds/walk"
	"github.com/deed-project/deed/value"
)

// Warnings of what pods use although it is deprecated: labels of nodes, annotations, and files of volumes that replace each other.

// DeprecatedLabels are labels of nodes, with what is said of them.
var DeprecatedLabels = map[string]string{
	"beta.kubernetes.io/arch":                       `deprecated since v1.14; use "kubernetes.io/arch" instead`,
	"beta.kubernetes.io/os":                         `deprecated since v1.14; use "kubernetes.io/os" instead`,
	"failure-domain.beta.kubernetes.io/region":      `deprecated since v1.17; use "topology.kubernetes.io/region" instead`,
	"failure-domain.beta.kubernetes.io/zone":        `deprecated since v1.17; use "topology.kubernetes.io/zone" instead`,
	"beta.kubernetes.io/instance-type":              `deprecated since v1.17; use "node.kubernetes.io/instance-type" instead`,
	"app.kubernetes.io/created-by":                  "deprecated since v1.9",
	"scheduler.alpha.kubernetes.io/preferAvoidPods": "deprecated since v1.22; use Taints and Tolerations instead",
	"node-role.kubernetes.io/master":                `use "node-role.kubernetes.io/control-plane" instead`,
}

// WarnOfNodeTerm warns of deprecated labels in the expressions of a term about nodes, and of values that no label has if checked is set.
func WarnOfNodeTerm(w *walk.Warnings, p walk.Place, checked bool) {
	expressions := p.At("matchExpressions")
	for i := range expressions.Indexes() {
		e := expressions.Index(i)
		key, values := e.At("key"), e.At("values")
		if said, deprecated := DeprecatedLabels[key.Str()]; deprecated {
			w.Add("%s: %s is %s", key.Path(), key.Str(), said)
		}
		for i := range values.Len() {
			if !checked {
				break
			}
			v := values.Index(i)
			for _, wrong := range validation.IsValidLabelValue(v.Str()) {
				w.Add("%s: %s is invalid, %s", v.Path(), v.Str(), wrong)
			}
		}
	}
}

// warnOfNodes warns of deprecated labels by which a pod selects nodes.
func warnOfNodes(w *walk.Warnings, spec walk.Place) {
	selector := spec.At("nodeSelector")
	for i := range selector.Indexes() {
		if label := selector.Entry(i); DeprecatedLabels[label.Name()] != "" {
			w.Add("%s: %s", label.Path(), DeprecatedLabels[label.Name()])
		}
	}
	affinity := spec.At("affinity").At("nodeAffinity")
	terms := affinity.At("requiredDuringSchedulingIgnoredDuringExecution").At("nodeSelectorTerms")
	for i := range terms.Indexes() {
		WarnOfNodeTerm(w, terms.Index(i), false)
	}
	preferred := affinity.At("preferredDuringSchedulingIgnoredDuringExecution")
	for i := range preferred.Indexes() {
		WarnOfNodeTerm(w, preferred.Index(i).At("preference"), true)
	}
}

// podAnnotations are annotations of pods that have no effect any more.
var podAnnotations = [...][2]string{
	{"scheduler.alpha.kubernetes.io/critical-pod", `non-functional in v1.16+; use the "priorityClassName" field instead`},
	{"security.alpha.kubernetes.io/sysctls", `non-functional in v1.11+; use the "sysctls" field instead`},
	{"security.alpha.kubernetes.io/unsafe-sysctls", `non-functional in v1.11+; use the "sysctls" field instead`},
}

// WarnOfAnnotation warns of an annotation if it is there.
func WarnOfAnnotation(w *walk.Warnings, annotations walk.Place, name, said string) {
	if v := annotations.Get(name); !v.IsAbsent() {
		w.Add("%s: %s", annotations.Below(v, name, walk.IsKey).Path(), said)
	}
}

const noSeccomp = `non-functional in v1.27+; use the "seccompProfile" field instead`

// warnOfProfiles warns of annotations with security profiles of a container. Annotations for AppArmor are in templates only: those of pods become
// fields, see [WarnOfNew].
func warnOfProfiles(w *walk.Warnings, annotations, c, spec walk.Place, template bool) {
	security := c.Get("securityContext")
	name := c.Text("name")
	if !walk.IsSet(security.Get("seccompProfile")) {
		WarnOfAnnotation(w, annotations, seccompPrefix+name, noSeccomp)
	}
	key := appArmorPrefix + name
	of := spec.Get("securityContext", "appArmorProfile")
	if said := annotations.Get(key); template && !walk.IsSet(security.Get("appArmorProfile")) && !(walk.IsSet(of) && of.Equal(appArmor(said.Str()))) {
		WarnOfAnnotation(w, annotations, key, oldAppArmor)
	}
}

// maxProfile is how many bytes the name of an AppArmor profile may have.
const maxProfile = 4095

const oldAppArmor = `deprecated since v1.30; use the "appArmorProfile" field instead`

// WarnOfNew warns of annotations with AppArmor profiles of a new pod as it is sent, before they become fields. An answer has these warnings also
// if the pod is refused.
func WarnOfNew(pod value.Value) (warnings []string) {
	annotations, spec := pod.Get("metadata", "annotations"), pod.Get("spec")
	if annotations.Len() == 0 || spec.Get("os", "name").Str() == "windows" {
		return nil
	}
	for _, list := range containerLists {
		for c := range spec.Get(list).Items() {
			key := appArmorPrefix + c.Get("name").Str()
			said := annotations.Get(key)
			if said.IsAbsent() || walk.IsSet(c.Get("securityContext", "appArmorProfile")) {
				continue
			}
			of := appArmor(said.Str())
			file := of.Get("localhostProfile").Str()
			isValid := !of.IsAbsent() && file == strings.TrimSpace(file) && len(file) <= maxProfile
			if !isValid || !of.Equal(spec.Get("securityContext", "appArmorProfile")) {
				warnings = append(warnings, field.NewPath("metadata", "annotations").Key(key).String()+": "+oldAppArmor)
			}
		}
	}
	return warnings
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

// warnOfOverlapping warns of files of a volume that are at one path, or below each other.
func warnOfOverlapping(w *walk.Warnings, volume value.Value, kind string, files []projectedFile) {
	var had []projectedFile
	for _, f := range files {
		f.path = strings.TrimRight(f.path, "/")
		for _, other := range had {
			if f.path != "" && other.path != "" && (f.covers(other) || other.covers(f)) && len(w.Texts) < walk.Enough {
				w.Add("volume %q (%s): overlapping paths: %s with %s", volume.Get("name").Str(), kind, f, other)
			}
		}
		if len(w.Texts) < walk.Enough { // otherwise there are as many pairs as files squared
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

// warnOfFiles warns of files of a volume that overlap.
func warnOfFiles(w *walk.Warnings, volume value.Value) {
	if of := volume.Get("configMap"); walk.IsSet(of) {
		warnOfOverlapping(w, volume, fmt.Sprintf("ConfigMap %q", of.Get("name").Str()), filesOf(of, ""))
	}
	if of := volume.Get("secret"); walk.IsSet(of) {
		warnOfOverlapping(w, volume, fmt.Sprintf("Secret %q", of.Get("secretName").Str()), filesOf(of, ""))
	}
	if of := volume.Get("downwardAPI"); walk.IsSet(of) {
		warnOfOverlapping(w, volume, "DownwardAPI", filesOf(of, ""))
	}
	var all []projectedFile
	for source := range volume.Get("projected", "sources").Items() {
		if walk.IsEmpty(source) {
			w.Add("volume %q (Projected) has no sources provided", volume.Get("name").Str())
			continue
		}
		all = append(all, sourceFiles(source)...)
	}
	warnOfOverlapping(w, volume, "Projected", all)
}

// sourceFiles returns the files of a source of a projected volume. Of several sources in one, the first counts.
func sourceFiles(s value.Value) []projectedFile {
	of := func(name string) (value.Value, bool) { return s.Get(name), walk.IsSet(s.Get(name)) }
	if v, ok := of("configMap"); ok && walk.IsSet(v.Get("items")) {
		return filesOf(v, fmt.Sprintf("ConfigMap %q", v.Get("name").Str()))
	}
	if v, ok := of("secret"); ok && walk.IsSet(v.Get("items")) {
		return filesOf(v, fmt.Sprintf("Secret %q", v.Get("name").Str()))
	}
	if v, ok := of("downwardAPI"); ok && walk.IsSet(v.Get("items")) {
		return filesOf(v, "DownwardAPI")
	}
	if v, ok := of("serviceAccountToken"); ok {
		return []projectedFile{{v.Get("path").Str(), "ServiceAccountToken"}}
	}
	if v, ok := of("clusterTrustBundle"); ok {
		name := v.Get("name")
		if !walk.IsSet(name) {
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

// WarnOfIP warns of an IP address that is not in the standard form.
func WarnOfIP(w *walk.Warnings, p walk.Place) {
	if p.Str() != "" {
		w.Texts = append(w.Texts, validation.GetWarningsForIP(p.Path(), p.Str())...)
	}
}

// WarnOfCIDR warns of a range of addresses that is not in the standard form.
func WarnOfCIDR(w *walk.Warnings, p walk.Place) {
	if p.Str() != "" {
		w.Texts = append(w.Texts, validation.GetWarningsForCIDR(p.Path(), p.Str())...)
	}
}

// Warn warns of the spec of a pod, or of a template of pods, with its annotations.
func Warn(w *walk.Warnings, spec, annotations walk.Place, template bool) {
	warnOfNodes(w, spec)
	spread := spec.At("topologySpreadConstraints")
	for i := range spread.Indexes() {
		s := spread.Index(i)
		if key := s.At("topologyKey"); DeprecatedLabels[key.Str()] != "" {
			w.Add("%s: %s is %s", key.Path(), key.Str(), DeprecatedLabels[key.Str()])
		}
		warnOfSelectsNone(w, s)
	}
	for _, a := range podAnnotations {
		WarnOfAnnotation(w, annotations, a[0], a[1])
	}
	volumes := spec.At("volumes")
	for i := range volumes.Indexes() {
		v := volumes.Index(i)
		warnOfRetired(w, v)
		WarnOfClaim(w, v.At("ephemeral").At("volumeClaimTemplate").At("spec"))
	}
	for volume := range volumes.Items() {
		warnOfFiles(w, volume)
	}
	warnOfRepeats(w, spec.At("hostAliases"), "ip")
	secrets := spec.At("imagePullSecrets")
	warnOfRepeats(w, secrets, "name")
	for i := range secrets.Indexes() {
		if secret := secrets.Index(i); secret.Text("name") == "" {
			w.Add("%s: invalid empty name \"\"", secret.At("name").Path())
		}
	}
	warnOfFractions(w, spec.At("overhead"))
	if !walk.IsSet(spec.Get("securityContext", "seccompProfile")) {
		WarnOfAnnotation(w, annotations, seccompAnnotation, noSeccomp)
	}
	lists := [...]walk.Place{spec.At("initContainers"), spec.At("containers"), spec.At("ephemeralContainers")}
	for _, list := range lists {
		for i := range list.Indexes() {
			c := list.Index(i)
			warnOfProfiles(w, annotations, c, spec, template)
			resources := c.At("resources")
			for _, name := range [...]string{"memory", "ephemeral-storage"} {
				warnOfFraction(w, resources.At("limits"), name)
				warnOfFraction(w, resources.At("requests"), name)
			}
			warnOfEnv(w, c.At("env"))
		}
	}
	warnOfPorts(w, lists[:])
	if grace := spec.At("terminationGracePeriodSeconds"); grace.Int() < 0 {
		w.Add("%s: must be >= 0; negative values are invalid and will be treated as 1", grace.Path())
	}
	affinity := spec.At("affinity")
	warnOfAffinity(w, affinity.At("podAffinity"))
	warnOfAffinity(w, affinity.At("podAntiAffinity"))
	servers := spec.At("dnsConfig").At("nameservers")
	for i := range servers.Indexes() {
		WarnOfIP(w, servers.Index(i))
	}
	aliases := spec.At("hostAliases")
	for i := range aliases.Indexes() {
		WarnOfIP(w, aliases.Index(i).At("ip"))
	}
}

// warnOfRetired warns of a volume that does not work any more.
func warnOfRetired(w *walk.Warnings, volume walk.Place) {
	for _, r := range retiredVolumes {
		if v := volume.Get(r.member); walk.IsSet(v) {
			w.Add("%s: %s", volume.Below(v, cmp.Or(r.as, r.member), walk.IsMember).Path(), r.since)
		}
	}
}

// retiredVolumes says since when volumes of some sorts do not work any more.
var retiredVolumes = []retiredVolume{
	{"photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+", ""},
	{"gitRepo", "deprecated in v1.11, and disabled by default in v1.33+", ""},
	{"scaleIO", "deprecated in v1.16, non-functional in v1.22+", ""}, {"flocker", "deprecated in v1.22, non-functional in v1.25+", ""},
	{"storageos", "deprecated in v1.22, non-functional in v1.25+", "storageOS"}, {"quobyte", "deprecated in v1.22, non-functional in v1.25+", ""},
	{"glusterfs", "deprecated in v1.25, non-functional in v1.26+", ""}, {"cephfs", "deprecated in v1.28, non-functional in v1.31+", ""},
	{"rbd", "deprecated in v1.28, non-functional in v1.31+", ""},
}

// retiredVolume is a member of a volume, with since when it does not work. as is its name in the warning, if that differs.
type retiredVolume struct{ member, since, as string }

// WarnOfRetiredSource warns of a PersistentVolume of a sort that does not work any more.
func WarnOfRetiredSource(w *walk.Warnings, name string) {
	i := slices.IndexFunc(retiredVolumes, func(r retiredVolume) bool { return r.member == name })
	w.Add("spec.%s: %s", cmp.Or(retiredVolumes[i].as, name), retiredVolumes[i].since)
}

// WarnOfClaim warns of amounts of storage with parts of bytes.
func WarnOfClaim(w *walk.Warnings, spec walk.Place) {
	resources := spec.At("resources")
	warnOfFraction(w, resources.At("requests"), "storage")
	warnOfFraction(w, resources.At("limits"), "storage")
}

// warnOfSelectsNone warns of what selects no pod because it does not say which.
func warnOfSelectsNone(w *walk.Warnings, p walk.Place) {
	if selector := p.At("labelSelector"); !selector.IsSet() {
		w.Add("%s: a null labelSelector results in matching no pod", selector.Path())
	}
}

// warnOfAffinity warns of terms about pods.
func warnOfAffinity(w *walk.Warnings, p walk.Place) {
	required, preferred := p.At("requiredDuringSchedulingIgnoredDuringExecution"), p.At("preferredDuringSchedulingIgnoredDuringExecution")
	for i := range required.Indexes() {
		warnOfSelectsNone(w, required.Index(i))
	}
	for i := range preferred.Indexes() {
		term := preferred.Index(i)
		warnOfSelectsNone(w, term.At("podAffinityTerm"))
	}
}

// warnOfRepeats warns of items that say the same in a member.
func warnOfRepeats(w *walk.Warnings, p walk.Place, member string) {
	var met walk.Names
	for i := range p.Indexes() {
		item := p.Index(i)
		if m := item.At(member); !met.Add(m.Str()) {
			w.Add("%s: duplicate %s %q", m.Path(), member, m.Str())
		}
	}
}

// warnOfFractions warns of parts of bytes.
func warnOfFractions(w *walk.Warnings, p walk.Place) {
	warnOfFraction(w, p, "memory")
	warnOfFraction(w, p, "ephemeral-storage")
}

func warnOfFraction(w *walk.Warnings, p walk.Place, name string) {
	v := p.Get(name)
	if !strings.HasSuffix(v.Str(), "m") && !strings.Contains(v.Str(), "e-") {
		return // which has no fractions, in the form in which quantities are kept
	}
	if q := walk.Quantity(v); q.MilliValue()%1000 != 0 {
		w.Add("%s: fractional byte value %q is invalid, must be an integer", p.Below(v, name, walk.IsKey).Path(), v.Str())
	}
}

// warnOfEnv warns of variables that hide others, unless they are made of them.
func warnOfEnv(w *walk.Warnings, p walk.Place) {
	var met walk.Names
	for i := range p.Indexes() {
		e := p.Index(i)
		name, text := e.Text("name"), e.Text("value")
		if met.Add(name) {
			continue
		}
		if ref := "$(" + name + ")"; walk.IsSet(e.Get("valueFrom")) || text == ref || !strings.Contains(text, ref) {
			w.Add("%s: hides previous definition of %q, which may be dropped when using apply", e.Path(), name)
		}
	}
}

// warnOfPorts warns of ports of containers that are the same, or have one name.
func warnOfPorts(w *walk.Warnings, lists []walk.Place) {
	same, named := map[string][]walk.Place{}, map[string]walk.Place{}
	each := func(visit func(port walk.Place)) {
		for _, list := range lists {
			for i := range list.Indexes() {
				c := list.Index(i)
				ports := c.At("ports")
				for i := range ports.Indexes() {
					visit(ports.Index(i))
				}
			}
		}
	}
	each(func(port walk.Place) {
		if host := port.Get("hostPort").Int(); host == 0 && port.Text("hostIP") != "" {
			w.Add("%s: hostIP set without hostPort: {Name:%s HostPort:%d ContainerPort:%d Protocol:%s HostIP:%s}", port.Path(), port.Text("name"),
				host, port.Get("containerPort").Int(), port.Text("protocol"), port.Text("hostIP"))
		}
		key := strconv.FormatInt(port.Get("containerPort").Int(), 10) + "/" + port.Text("protocol")
		for _, other := range same[key] {
			warnOfTwoPorts(w, port, other)
		}
		if len(w.Texts) < walk.Enough { // otherwise there are as many pairs as ports squared
			same[key] = append(same[key], port)
		}
	})
	each(func(port walk.Place) {
		name := port.Text("name")
		if other, found := named[name]; found {
			w.Add("%s: duplicate port name %q with %s, services and probes that select ports by name will use %s", port.Path(), name,
				other.Path(), other.Path())
		} else if name != "" {
			named[name] = port
		}
	})
}

// warnOfTwoPorts warns of two ports of one number.
func warnOfTwoPorts(w *walk.Warnings, port, other walk.Place) {
	host, otherHost := port.Get("hostPort").Int(), other.Get("hostPort").Int()
	ip, otherIP := port.Text("hostIP"), other.Text("hostIP")
	switch {
	case ip == otherIP && host == otherHost:
		w.Add("%s: duplicate port definition with %s", port.Path(), other.Path())
	case host == 0 || otherHost == 0:
		w.Add("%s: overlapping port definition with %s", port.Path(), other.Path())
	case host == otherHost && (ip == "") != (otherIP == ""):
		w.Add("%s: dangerously ambiguous port definition with %s", port.Path(), other.Path())
	}
}
