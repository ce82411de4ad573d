package pods

import (
	"cmp"
	"fmt"
	"net"
	"path"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/deed-project/deed/server/kinds/walk"
	"github.com/deed-project/deed/value"
)

// volumeType is what a volume may be.
type volumeType struct {
	name     string
	second   string   // its name in the error that another type is set, too; name if it is empty
	as       string   // its name in the paths of other errors; name if it is empty
	required []string // texts and lists that must not be empty
	check    func(w *volumeWalk, source walk.Place)
}

// volumeWalk is a walk over a volume of a pod or a PersistentVolume.
type volumeWalk struct {
	*walk.Report
	volume     walk.Place // of a pod; the spec of a PersistentVolume
	name       string
	persistent bool
	pod        string // the name of the pod, if it has one
}

// podVolumes and persistentVolumes are the types in the order in which they are validated.
var (
	podVolumes = volumeTypes("emptyDir", "hostPath", "gitRepo", "gcePersistentDisk", "awsElasticBlockStore", "secret", "nfs", "iscsi",
		"glusterfs", "flocker", "persistentVolumeClaim", "rbd", "cinder", "cephfs", "quobyte", "downwardAPI", "fc", "flexVolume", "configMap",
		"azureFile", "vsphereVolume", "photonPersistentDisk", "portworxVolume", "azureDisk", "storageos", "projected", "scaleIO", "csi",
		"ephemeral", "image")
	persistentVolumes = volumeTypes("hostPath", "gcePersistentDisk", "awsElasticBlockStore", "glusterfs", "flocker", "nfs", "rbd", "quobyte",
		"cephfs", "iscsi", "cinder", "fc", "flexVolume", "azureFile", "vsphereVolume", "photonPersistentDisk", "portworxVolume", "azureDisk",
		"scaleIO", "local", "storageos", "csi")
)

func volumeTypes(names ...string) []volumeType {
	all := []volumeType{
		{name: "awsElasticBlockStore", required: []string{"volumeID"}, check: (*volumeWalk).partition},
		{name: "azureDisk", required: []string{"diskName", "diskURI"}, check: (*volumeWalk).azureDisk},
		{name: "azureFile", required: []string{"secretName", "shareName"}, check: (*volumeWalk).azureFile},
		{name: "cephfs", second: "cephFS", required: []string{"monitors"}},
		{name: "cinder", required: []string{"volumeID"}, check: (*volumeWalk).secretRef},
		{name: "configMap", required: []string{"name"}, check: (*volumeWalk).files},
		{name: "csi", check: (*volumeWalk).csi},
		{name: "downwardAPI", second: "downwarAPI", check: (*volumeWalk).downwardAPI},
		{name: "emptyDir", check: (*volumeWalk).emptyDir},
		{name: "ephemeral", check: (*volumeWalk).ephemeral},
		{name: "fc", check: (*volumeWalk).fibreChannel},
		{name: "flexVolume", required: []string{"driver"}, check: (*volumeWalk).options},
		{name: "flocker", check: (*volumeWalk).flocker},
		{name: "gcePersistentDisk", as: "persistentDisk", required: []string{"pdName"}, check: (*volumeWalk).partition},
		{name: "gitRepo", required: []string{"repository"}, check: (*volumeWalk).directory},
		{name: "glusterfs", required: []string{"endpoints", "path"}, check: (*volumeWalk).endpointsNamespace},
		{name: "hostPath", check: (*volumeWalk).hostPath},
		{name: "image", check: (*volumeWalk).image},
		{name: "iscsi", check: (*volumeWalk).iscsi},
		{name: "local", check: (*volumeWalk).local},
		{name: "nfs", required: []string{"server", "path"}, check: (*volumeWalk).absolute},
		{name: "persistentVolumeClaim", required: []string{"claimName"}},
		{name: "photonPersistentDisk", required: []string{"pdID"}},
		{name: "portworxVolume", required: []string{"volumeID"}},
		{name: "projected", check: (*volumeWalk).projected},
		{name: "quobyte", check: (*volumeWalk).quobyte},
		{name: "rbd", required: []string{"monitors", "image"}},
		{name: "scaleIO", required: []string{"gateway", "system", "volumeName"}},
		{name: "secret", required: []string{"secretName"}, check: (*volumeWalk).files},
		{name: "storageos", check: (*volumeWalk).storageOS},
		{name: "vsphereVolume", required: []string{"volumePath"}},
	}
	out := make([]volumeType, len(names))
	for i, name := range names {
		out[i] = all[slices.IndexFunc(all, func(t volumeType) bool { return t.name == name })]
	}
	return out
}

// ValidateVolumeSource validates what a PersistentVolume is, by its spec and its name.
func ValidateVolumeSource(r *walk.Report, spec walk.Place, name string) {
	w := volumeWalk{Report: r, volume: spec, name: name, persistent: true}
	w.source(persistentVolumes)
}

// source validates what a volume is: one of the types.
func (w *volumeWalk) source(types []volumeType) {
	n := 0
	for i := range types {
		t := &types[i]
		v := w.volume.Get(t.name)
		if !walk.IsSet(v) {
			continue
		}
		if n++; n > 1 && !(w.persistent && t.name == "flexVolume") {
			w.Forbidden(w.volume.Below(v, cmp.Or(t.second, t.name), walk.IsMember), "may not specify more than 1 volume type")
		} else {
			w.sourceOf(t, w.volume.Below(v, cmp.Or(t.as, t.name), walk.IsMember))
		}
		if t.name == "iscsi" && !w.persistent && walk.IsSet(v.Get("initiatorName")) && len(w.name)+1+len(v.Get("targetPortal").Str()) > 64 {
			w.InvalidAs(w.volume.At("name"), w.name, longPortal)
		}
	}
	if n == 0 {
		w.Required(w.volume, "must specify a volume type")
	}
}

func (w *volumeWalk) sourceOf(t *volumeType, source walk.Place) {
	for _, name := range t.required {
		if p := source.At(name); p.Str() == "" && p.Len() == 0 {
			w.Required(p, "")
		}
	}
	if t.check != nil {
		t.check(w, source)
	}
}

const longPortal = "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified."

func (w *volumeWalk) partition(s walk.Place) {
	if p := s.At("partition"); p.Int() < 0 || p.Int() > 255 {
		w.Invalid(p, "must be between 1 and 255, inclusive")
	}
}

func (w *volumeWalk) azureDisk(s walk.Place) {
	uri, kind := s.At("diskURI"), s.At("kind")
	if mode := s.At("cachingMode"); mode.IsSet() {
		w.OnlyAmong(mode, "None", "ReadOnly", "ReadWrite")
	}
	if !kind.IsSet() {
		return
	}
	w.OnlyAmong(kind, "Dedicated", "Managed", "Shared")
	switch managed := kind.Str() == "Managed"; {
	case managed && !strings.HasPrefix(uri.Str(), "/subscriptions/"):
		w.NotOneOf(uri, "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}")
	case !managed && !strings.HasPrefix(uri.Str(), "https://"):
		w.NotOneOf(uri, "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd")
	}
}

func (w *volumeWalk) azureFile(s walk.Place) {
	if namespace := s.At("secretNamespace"); w.persistent && namespace.IsSet() {
		w.Present(namespace)
	}
}

// secretRef validates a reference to a secret that may be left out.
func (w *volumeWalk) secretRef(s walk.Place) {
	ref := s.At("secretRef")
	if !ref.IsSet() {
		return
	}
	w.Present(ref.At("name"))
	if w.persistent {
		w.Present(ref.At("namespace"))
	}
}

func (w *volumeWalk) csi(s walk.Place) {
	w.DriverName(s.At("driver"))
	if !w.persistent {
		ref := s.At("nodePublishSecretRef")
		if name := ref.At("name"); ref.IsSet() && w.Present(name) {
			w.Invalid(s.Below(name.Value, "name", walk.IsMember), validation.IsDNS1123Subdomain(name.Str())...)
		}
		return
	}
	w.Present(s.At("volumeHandle"))
	for _, name := range [...]string{"controllerPublishSecretRef", "controllerExpandSecretRef", "nodePublishSecretRef", "nodeExpandSecretRef"} {
		ref := s.At(name)
		if !ref.IsSet() {
			continue
		}
		if name := ref.At("name"); w.Present(name) {
			w.Subdomain(name)
		}
		if namespace := ref.At("namespace"); w.Present(namespace) {
			w.Label(namespace)
		}
	}
}

func (w *volumeWalk) emptyDir(s walk.Place) {
	if size := s.At("sizeLimit"); strings.HasPrefix(size.Str(), "-") {
		w.Forbidden(size, "SizeLimit field must be a valid resource quantity")
	}
}

func (w *volumeWalk) ephemeral(s walk.Place) {
	template := s.At("volumeClaimTemplate")
	if !template.IsSet() {
		w.Required(template, "")
	} else {
		ValidateClaimMetadata(w.Report, template.At("metadata"))
		ValidateClaimSpec(w.Report, template.At("spec"), value.Value{})
	}
	if w.pod != "" && w.name != "" {
		name := w.pod + "-" + w.name
		for _, wrong := range validation.IsDNS1123Subdomain(name) {
			w.InvalidAs(w.volume.At("name"), w.name, fmt.Sprintf("PVC name %q: %v", name, wrong))
		}
	}
}

// ValidateClaimMetadata validates metadata that may have annotations and labels only.
func ValidateClaimMetadata(r *walk.Report, p walk.Place) {
	validateAnnotations(r, p.At("annotations"))
	r.Labels(p.At("labels"))
	for _, name := range [...]string{
		"name", "generateName", "namespace", "selfLink", "uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp",
		"deletionGracePeriodSeconds", "ownerReferences", "finalizers", "managedFields",
	} {
		if m := p.At(name); m.IsSet() || name == "deletionTimestamp" && m.IsNull() { // a pointer to the time of zero
			shown := m
			if name == "uid" {
				shown = p.Below(m.Value, "uID", walk.IsMember)
			}
			r.Forbidden(shown, "cannot be set")
		}
	}
}

func (w *volumeWalk) fibreChannel(s walk.Place) {
	wwns, wwids, lun := s.At("targetWWNs"), s.At("wwids"), s.At("lun")
	if wwns.Len() == 0 && wwids.Len() == 0 {
		w.Required(wwns, "must specify either targetWWNs or wwids, but not both")
	}
	if wwns.Len() > 0 && wwids.Len() > 0 {
		w.Invalid(wwns, "targetWWNs and wwids can not be specified simultaneously")
	}
	if wwns.Len() > 0 {
		if !lun.IsSet() {
			w.Required(lun, "lun is required if targetWWNs is specified")
		}
		w.Within(lun, 0, 255)
	}
}

// options refuses the names that Kubernetes reserves.
func (w *volumeWalk) options(s walk.Place) {
	options := s.At("options")
	for i := range options.Indexes() {
		option := options.Entry(i)
		domain, _, _ := strings.Cut(option.Name(), "/")
		domain = "." + strings.ToLower(domain)
		if strings.HasSuffix(domain, ".kubernetes.io") || strings.HasSuffix(domain, ".k8s.io") {
			w.InvalidAs(option, option.Name(), "kubernetes.io and k8s.io namespaces are reserved")
		}
	}
}

func (w *volumeWalk) flocker(s walk.Place) {
	name, uuid := s.At("datasetName"), s.Text("datasetUUID")
	if name.Str() == "" && uuid == "" {
		w.Required(s, "one of datasetName and datasetUUID is required")
	}
	if name.Str() != "" && uuid != "" {
		w.InvalidAs(s, "resource", "datasetName and datasetUUID can not be specified simultaneously")
	}
	if strings.Contains(name.Str(), "/") {
		w.Invalid(name, "must not contain '/'")
	}
}

func (w *volumeWalk) directory(s walk.Place) {
	at := s.At("directory")
	validateDescending(w.Report, at, at)
}

func (w *volumeWalk) endpointsNamespace(s walk.Place) {
	namespace := s.At("endpointsNamespace")
	switch {
	case !w.persistent || !namespace.IsSet():
	case namespace.Str() == "":
		w.Invalid(namespace, "if the endpointnamespace is set, it must be a valid namespace name")
	default:
		w.Label(namespace)
	}
}

func (w *volumeWalk) hostPath(s walk.Place) {
	at := s.At("path")
	if !w.Present(at) {
		return
	}
	noBacksteps(w.Report, at, at)
	if typ := s.At("type"); typ.IsSet() {
		w.OnlyAmong(typ, "", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket")
	}
}

func (w *volumeWalk) image(s walk.Place) {
	w.Present(s.At("reference"))
	w.Among(s.At("pullPolicy"), "Always", "IfNotPresent", "Never")
}

// Forms of names of initiators and targets.
var initiators = map[string]func() *regexp.Regexp{
	"iqn": walk.LazyRegexp(`iqn\.\d{4}-\d{2}\.([[:alnum:]-.]+)(:[^,;*&$|\s]+)$`),
	"eui": walk.LazyRegexp(`^eui.[[:alnum:]]{16}$`),
	"naa": walk.LazyRegexp(`^naa.[[:alnum:]]{32}$`),
}

// initiator validates a name of iSCSI; otherwise is what is said of one that has no known prefix.
func (w *volumeWalk) initiator(p walk.Place, otherwise string) {
	name := p.Str()
	form := initiators[name[:min(3, len(name))]]
	switch {
	case form == nil:
		w.Invalid(p, otherwise)
	case !form().MatchString(name):
		w.Invalid(p, "must be valid format")
	}
}

func (w *volumeWalk) iscsi(s walk.Place) {
	portal, initiator := s.At("targetPortal"), s.At("initiatorName")
	w.Present(portal)
	otherwise := "must be valid format starting with iqn, eui, or naa"
	if w.persistent {
		otherwise = "must be valid format"
		if initiator.IsSet() && len(w.name)+1+len(portal.Str()) > 64 {
			w.Invalid(s.Below(portal.Value, "targetportal", walk.IsMember), longPortal)
		}
	}
	if iqn := s.At("iqn"); w.Present(iqn) {
		w.initiator(iqn, otherwise)
	}
	lun := s.At("lun")
	w.Within(lun, 0, 255)
	ref := s.At("secretRef")
	if (s.Get("chapAuthDiscovery").Bool() || s.Get("chapAuthSession").Bool()) && !ref.IsSet() {
		w.Required(ref, "")
	}
	if w.persistent && ref.IsSet() {
		w.Present(ref.At("name"))
	}
	if initiator.IsSet() {
		w.initiator(s.Below(initiator.Value, "initiatorname", walk.IsMember), otherwise)
	}
}

func (w *volumeWalk) local(s walk.Place) {
	if at := s.At("path"); w.Present(at) {
		noBacksteps(w.Report, at, at)
	}
	if affinity := w.volume.At("nodeAffinity"); !affinity.IsSet() {
		w.Required(affinity, "Local volume requires node affinity")
	}
}

func (w *volumeWalk) absolute(s walk.Place) {
	if at := s.At("path"); !path.IsAbs(at.Str()) {
		w.InvalidAs(at, at.Str(), "must be an absolute path")
	}
}

func (w *volumeWalk) quobyte(s walk.Place) {
	const pairs = "must be a host:port pair or multiple pairs separated by commas"
	registry, tenant := s.At("registry"), s.At("tenant")
	switch {
	case registry.Str() == "":
		w.Required(registry, pairs)
	case len(tenant.Str()) > 64:
		w.Required(tenant, "must be a UUID and may not exceed a length of 64 characters")
	default:
		for pair := range strings.SplitSeq(registry.Str(), ",") {
			if _, _, err := net.SplitHostPort(pair); err != nil {
				w.Invalid(registry, pairs)
			}
		}
	}
	w.Present(s.At("volume"))
}

func (w *volumeWalk) storageOS(s walk.Place) {
	if name := s.At("volumeName"); w.Present(name) {
		w.Label(name)
	}
	if namespace := s.At("volumeNamespace"); namespace.Str() != "" {
		w.Label(namespace)
	}
	w.secretRef(s)
}

// files validates the files that keys of an object become.
func (w *volumeWalk) files(s walk.Place) {
	validateMode(w.Report, s.At("defaultMode"))
	validateUser(w.Report, s, "defaultUser")
	items := s.At("items")
	for i := range items.Indexes() {
		w.file(items.Index(i))
	}
}

// file validates the file that a key becomes.
func (w *volumeWalk) file(item walk.Place) {
	w.Present(item.At("key"))
	at := item.At("path")
	w.Present(at)
	validateReserved(w.Report, at, at)
	validateMode(w.Report, item.At("mode"))
	validateUser(w.Report, item, "user")
}

// validateReserved refuses a path of a file that leaves its volume, or has a name that is reserved; the error is about another place.
func validateReserved(r *walk.Report, p, told walk.Place) {
	validateDescending(r, p, told)
	if at := p.Str(); strings.HasPrefix(at, "..") && !strings.HasPrefix(at, "../") {
		r.InvalidAs(told, at, "must not start with '..'")
	}
}

// validateMode refuses what are no permissions of a file.
func validateMode(r *walk.Report, p walk.Place) {
	if n := p.Int(); n < 0 || n > 0o777 {
		r.Invalid(p, "must be a number between 0 and 0777 (octal), both inclusive")
	}
}

// downwardAPI validates files with fields of the pod. Errors in its items have the path of the volume.
func (w *volumeWalk) downwardAPI(s walk.Place) {
	validateMode(w.Report, s.At("defaultMode"))
	validateUser(w.Report, s, "defaultUser")
	for item := range s.Get("items").Items() {
		s.Value = item
		w.podFile(s)
	}
}

// volumeFields are the fields of a pod that may be in files.
var volumeFields = []string{"metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"}

// podFile validates a file with a field of the pod.
func (w *volumeWalk) podFile(item walk.Place) {
	at := item.At("path")
	w.Present(at)
	validateReserved(w.Report, at, at)
	of, resource := item.At("fieldRef"), item.At("resourceFieldRef")
	switch {
	case of.IsSet():
		validateFieldRef(w.Report, of, volumeFields)
		if resource.IsSet() {
			w.InvalidAs(item, "resource", "fieldRef and resourceFieldRef can not be specified simultaneously")
		}
	case resource.IsSet():
		validateResourceRef(w.Report, resource, true)
	default:
		w.Required(item, "one of fieldRef and resourceFieldRef is required")
	}
	validateMode(w.Report, item.At("mode"))
	validateUser(w.Report, item, "user")
}

// volumeList validates volumes of a pod, and notes the names of the valid ones: only those may be mounted.
//
// A pod makes a claim for each ephemeral volume, called POD-VOLUME. Another volume must not use that claim.
func (w *podWalk) volumeList(p walk.Place) {
	var created walk.Names
	for v := range p.Items() {
		if w.name != "" && walk.IsSet(v.Get("ephemeral")) {
			created.Add(w.name + "-" + v.Get("name").Str())
		}
	}
	for i := range p.Indexes() {
		v, before := p.Index(i), len(w.Errs)
		name := v.At("name")
		w.volume = volumeWalk{Report: w.Report, volume: v, name: name.Str(), pod: w.name}
		w.volume.source(podVolumes)
		if w.Present(name) {
			w.Label(name)
		}
		if w.volumes.Has(name.Str()) {
			w.Duplicate(name)
		}
		if len(w.Errs) == before {
			w.volumes.Add(name.Str())
			if walk.IsSet(v.Get("persistentVolumeClaim")) || walk.IsSet(v.Get("ephemeral")) {
				w.devices.Add(name.Str())
			}
		}
		claim := v.At("persistentVolumeClaim")
		if of := claim.At("claimName"); claim.IsSet() && created.Has(of.Str()) {
			w.InvalidAs(of, of.Str(), "must not reference a PVC that gets created for an ephemeral volume")
		}
	}
}

// VolumeSourceOf returns the members of the spec of a PersistentVolume that say what it is.
func VolumeSourceOf(spec value.Value) value.Value {
	var out []value.Member
	for _, t := range persistentVolumes {
		if v := spec.Get(t.name); walk.IsSet(v) {
			out = append(out, value.Member{Name: t.name, Value: v})
		}
	}
	return value.Object(out...)
}
