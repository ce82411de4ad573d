package kinds

import (
	"cmp"
	"fmt"
	"math"
	"net"
	"path"
	"regexp"
	"slices"
	"strings"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/value"
)

// volumeType is what a volume may be.
type volumeType struct {
	name     string
	second   string   // its name in the error that another type is set, too; name if it is empty
	as       string   // its name in the paths of other errors; name if it is empty
	required []string // texts and lists that must not be empty
	check    func(w *volumeWalk, source place)
}

// volumeWalk is a walk over a volume of a pod or a PersistentVolume.
type volumeWalk struct {
	*report
	volume     place // of a pod; the spec of a PersistentVolume
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

// volumeSource validates what a PersistentVolume is, by its spec and its name.
func (r *report) volumeSource(spec place, name string) {
	w := volumeWalk{report: r, volume: spec, name: name, persistent: true}
	w.source(persistentVolumes)
}

// source validates what a volume is: one of the types.
func (w *volumeWalk) source(types []volumeType) {
	n := 0
	for i := range types {
		t := &types[i]
		v := w.volume.Get(t.name)
		if !isSet(v) {
			continue
		}
		if n++; n > 1 && !(w.persistent && t.name == "flexVolume") {
			w.forbidden(w.volume.below(v, cmp.Or(t.second, t.name), isMember), "may not specify more than 1 volume type")
		} else {
			w.sourceOf(t, w.volume.below(v, cmp.Or(t.as, t.name), isMember))
		}
		if t.name == "iscsi" && !w.persistent && isSet(v.Get("initiatorName")) && len(w.name)+1+len(v.Get("targetPortal").Str()) > 64 {
			w.invalidAs(w.volume.at("name"), w.name, longPortal)
		}
	}
	if n == 0 {
		w.required(w.volume, "must specify a volume type")
	}
}

func (w *volumeWalk) sourceOf(t *volumeType, source place) {
	for _, name := range t.required {
		if p := source.at(name); p.Str() == "" && p.Len() == 0 {
			w.required(p, "")
		}
	}
	if t.check != nil {
		t.check(w, source)
	}
}

const longPortal = "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified."

func (w *volumeWalk) partition(s place) {
	if p := s.at("partition"); p.Int() < 0 || p.Int() > 255 {
		w.invalid(p, "must be between 1 and 255, inclusive")
	}
}

func (w *volumeWalk) azureDisk(s place) {
	uri, kind := s.at("diskURI"), s.at("kind")
	if mode := s.at("cachingMode"); mode.is() {
		w.onlyAmong(mode, "None", "ReadOnly", "ReadWrite")
	}
	if !kind.is() {
		return
	}
	w.onlyAmong(kind, "Dedicated", "Managed", "Shared")
	switch managed := kind.Str() == "Managed"; {
	case managed && !strings.HasPrefix(uri.Str(), "/subscriptions/"):
		w.notOneOf(uri, "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}")
	case !managed && !strings.HasPrefix(uri.Str(), "https://"):
		w.notOneOf(uri, "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd")
	}
}

func (w *volumeWalk) azureFile(s place) {
	if namespace := s.at("secretNamespace"); w.persistent && namespace.is() {
		w.present(namespace)
	}
}

// secretRef validates a reference to a secret that may be left out.
func (w *volumeWalk) secretRef(s place) {
	ref := s.at("secretRef")
	if !ref.is() {
		return
	}
	w.present(ref.at("name"))
	if w.persistent {
		w.present(ref.at("namespace"))
	}
}

// driverName validates the name of a CSI driver.
func (r *report) driverName(p place) {
	if !r.present(p) {
		return
	}
	if len(p.Str()) > longestDriver {
		r.add(field.TooLong(p.path(), "", longestDriver))
	}
	r.invalid(p, validation.IsDNS1123Subdomain(strings.ToLower(p.Str()))...)
}

func (w *volumeWalk) csi(s place) {
	w.driverName(s.at("driver"))
	if !w.persistent {
		ref := s.at("nodePublishSecretRef")
		if name := ref.at("name"); ref.is() && w.present(name) {
			w.invalid(s.below(name.Value, "name", isMember), validation.IsDNS1123Subdomain(name.Str())...)
		}
		return
	}
	w.present(s.at("volumeHandle"))
	for _, name := range [...]string{"controllerPublishSecretRef", "controllerExpandSecretRef", "nodePublishSecretRef", "nodeExpandSecretRef"} {
		ref := s.at(name)
		if !ref.is() {
			continue
		}
		if name := ref.at("name"); w.present(name) {
			w.subdomain(name)
		}
		if namespace := ref.at("namespace"); w.present(namespace) {
			w.label(namespace)
		}
	}
}

func (w *volumeWalk) emptyDir(s place) {
	if size := s.at("sizeLimit"); strings.HasPrefix(size.Str(), "-") {
		w.forbidden(size, "SizeLimit field must be a valid resource quantity")
	}
}

func (w *volumeWalk) ephemeral(s place) {
	template := s.at("volumeClaimTemplate")
	if !template.is() {
		w.required(template, "")
	} else {
		w.claimMetadata(template.at("metadata"))
		w.claimSpec(template.at("spec"), value.Value{})
	}
	if w.pod != "" && w.name != "" {
		name := w.pod + "-" + w.name
		for _, wrong := range validation.IsDNS1123Subdomain(name) {
			w.invalidAs(w.volume.at("name"), w.name, fmt.Sprintf("PVC name %q: %v", name, wrong))
		}
	}
}

// claimMetadata validates metadata that may have annotations and labels only.
func (r *report) claimMetadata(p place) {
	r.annotations(p.at("annotations"))
	r.labels(p.at("labels"))
	for _, name := range [...]string{
		"name", "generateName", "namespace", "selfLink", "uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp",
		"deletionGracePeriodSeconds", "ownerReferences", "finalizers", "managedFields",
	} {
		if m := p.at(name); m.is() || name == "deletionTimestamp" && m.IsNull() { // a pointer to the time of zero
			shown := m
			if name == "uid" {
				shown = p.below(m.Value, "uID", isMember)
			}
			r.forbidden(shown, "cannot be set")
		}
	}
}

func (w *volumeWalk) fibreChannel(s place) {
	wwns, wwids, lun := s.at("targetWWNs"), s.at("wwids"), s.at("lun")
	if wwns.Len() == 0 && wwids.Len() == 0 {
		w.required(wwns, "must specify either targetWWNs or wwids, but not both")
	}
	if wwns.Len() > 0 && wwids.Len() > 0 {
		w.invalid(wwns, "targetWWNs and wwids can not be specified simultaneously")
	}
	if wwns.Len() > 0 {
		if !lun.is() {
			w.required(lun, "lun is required if targetWWNs is specified")
		}
		w.within(lun, 0, 255)
	}
}

// options refuses the names that Kubernetes reserves.
func (w *volumeWalk) options(s place) {
	options := s.at("options")
	for i := range options.indexes() {
		option := options.entry(i)
		domain, _, _ := strings.Cut(option.name(), "/")
		domain = "." + strings.ToLower(domain)
		if strings.HasSuffix(domain, ".kubernetes.io") || strings.HasSuffix(domain, ".k8s.io") {
			w.invalidAs(option, option.name(), "kubernetes.io and k8s.io namespaces are reserved")
		}
	}
}

func (w *volumeWalk) flocker(s place) {
	name, uuid := s.at("datasetName"), s.text("datasetUUID")
	if name.Str() == "" && uuid == "" {
		w.required(s, "one of datasetName and datasetUUID is required")
	}
	if name.Str() != "" && uuid != "" {
		w.invalidAs(s, "resource", "datasetName and datasetUUID can not be specified simultaneously")
	}
	if strings.Contains(name.Str(), "/") {
		w.invalid(name, "must not contain '/'")
	}
}

func (w *volumeWalk) directory(s place) {
	at := s.at("directory")
	w.descending(at, at)
}

func (w *volumeWalk) endpointsNamespace(s place) {
	namespace := s.at("endpointsNamespace")
	switch {
	case !w.persistent || !namespace.is():
	case namespace.Str() == "":
		w.invalid(namespace, "if the endpointnamespace is set, it must be a valid namespace name")
	default:
		w.label(namespace)
	}
}

func (w *volumeWalk) hostPath(s place) {
	at := s.at("path")
	if !w.present(at) {
		return
	}
	w.noBacksteps(at, at)
	if typ := s.at("type"); typ.is() {
		w.onlyAmong(typ, "", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket")
	}
}

func (w *volumeWalk) image(s place) {
	w.present(s.at("reference"))
	w.among(s.at("pullPolicy"), "Always", "IfNotPresent", "Never")
}

// Forms of names of initiators and targets.
var initiators = map[string]func() *regexp.Regexp{
	"iqn": lazyRegexp(`iqn\.\d{4}-\d{2}\.([[:alnum:]-.]+)(:[^,;*&$|\s]+)$`),
	"eui": lazyRegexp(`^eui.[[:alnum:]]{16}$`),
	"naa": lazyRegexp(`^naa.[[:alnum:]]{32}$`),
}

// initiator validates a name of iSCSI; otherwise is what is said of one that has no known prefix.
func (w *volumeWalk) initiator(p place, otherwise string) {
	name := p.Str()
	form := initiators[name[:min(3, len(name))]]
	switch {
	case form == nil:
		w.invalid(p, otherwise)
	case !form().MatchString(name):
		w.invalid(p, "must be valid format")
	}
}

func (w *volumeWalk) iscsi(s place) {
	portal, initiator := s.at("targetPortal"), s.at("initiatorName")
	w.present(portal)
	otherwise := "must be valid format starting with iqn, eui, or naa"
	if w.persistent {
		otherwise = "must be valid format"
		if initiator.is() && len(w.name)+1+len(portal.Str()) > 64 {
			w.invalid(s.below(portal.Value, "targetportal", isMember), longPortal)
		}
	}
	if iqn := s.at("iqn"); w.present(iqn) {
		w.initiator(iqn, otherwise)
	}
	lun := s.at("lun")
	w.within(lun, 0, 255)
	ref := s.at("secretRef")
	if (s.Get("chapAuthDiscovery").Bool() || s.Get("chapAuthSession").Bool()) && !ref.is() {
		w.required(ref, "")
	}
	if w.persistent && ref.is() {
		w.present(ref.at("name"))
	}
	if initiator.is() {
		w.initiator(s.below(initiator.Value, "initiatorname", isMember), otherwise)
	}
}

func (w *volumeWalk) local(s place) {
	if at := s.at("path"); w.present(at) {
		w.noBacksteps(at, at)
	}
	if affinity := w.volume.at("nodeAffinity"); !isSet(affinity.Get("required")) {
		w.required(affinity, "Local volume requires node affinity")
	}
}

func (w *volumeWalk) absolute(s place) {
	if at := s.at("path"); !path.IsAbs(at.Str()) {
		w.invalidAs(at, at.Str(), "must be an absolute path")
	}
}

func (w *volumeWalk) quobyte(s place) {
	const pairs = "must be a host:port pair or multiple pairs separated by commas"
	registry, tenant := s.at("registry"), s.at("tenant")
	switch {
	case registry.Str() == "":
		w.required(registry, pairs)
	case len(tenant.Str()) > 64:
		w.required(tenant, "must be a UUID and may not exceed a length of 64 characters")
	default:
		for pair := range strings.SplitSeq(registry.Str(), ",") {
			if _, _, err := net.SplitHostPort(pair); err != nil {
				w.invalid(registry, pairs)
			}
		}
	}
	w.present(s.at("volume"))
}

func (w *volumeWalk) storageOS(s place) {
	if name := s.at("volumeName"); w.present(name) {
		w.label(name)
	}
	if namespace := s.at("volumeNamespace"); namespace.Str() != "" {
		w.label(namespace)
	}
	w.secretRef(s)
}

// files validates the files that keys of an object become.
func (w *volumeWalk) files(s place) {
	w.mode(s.at("defaultMode"))
	w.user(s, "defaultUser")
	items := s.at("items")
	for i := range items.indexes() {
		w.file(items.item(i))
	}
}

// file validates the file that a key becomes.
func (w *volumeWalk) file(item place) {
	w.present(item.at("key"))
	at := item.at("path")
	w.present(at)
	w.reserved(at, at)
	w.mode(item.at("mode"))
	w.user(item, "user")
}

// reserved refuses a path of a file that leaves its volume, or has a name that is reserved; the error is about another place.
func (r *report) reserved(p, told place) {
	r.descending(p, told)
	if at := p.Str(); strings.HasPrefix(at, "..") && !strings.HasPrefix(at, "../") {
		r.invalidAs(told, at, "must not start with '..'")
	}
}

// mode refuses what are no permissions of a file.
func (r *report) mode(p place) {
	if n := p.Int(); n < 0 || n > 0o777 {
		r.invalid(p, "must be a number between 0 and 0777 (octal), both inclusive")
	}
}

// downwardAPI validates files with fields of the pod. Errors in its items have the path of the volume.
func (w *volumeWalk) downwardAPI(s place) {
	w.mode(s.at("defaultMode"))
	w.user(s, "defaultUser")
	for item := range s.Get("items").Items() {
		s.Value = item
		w.podFile(s)
	}
}

// volumeFields are the fields of a pod that may be in files.
var volumeFields = []string{"metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"}

// podFile validates a file with a field of the pod.
func (w *volumeWalk) podFile(item place) {
	at := item.at("path")
	w.present(at)
	w.reserved(at, at)
	of, resource := item.at("fieldRef"), item.at("resourceFieldRef")
	switch {
	case of.is():
		w.fieldRef(of, volumeFields)
		if resource.is() {
			w.invalidAs(item, "resource", "fieldRef and resourceFieldRef can not be specified simultaneously")
		}
	case resource.is():
		w.resourceRef(resource, true)
	default:
		w.required(item, "one of fieldRef and resourceFieldRef is required")
	}
	w.mode(item.at("mode"))
	w.user(item, "user")
}

// projected validates several sources that become files of one volume.
func (w *volumeWalk) projected(s place) {
	w.mode(s.at("defaultMode"))
	w.user(s, "defaultUser")
	files := projectedFiles{volumeWalk: w, volume: s}
	sources := s.at("sources")
	for i := range sources.indexes() {
		files.source(sources.item(i))
	}
}

// projectedFiles has the paths of the files of a projected volume.
type projectedFiles struct {
	*volumeWalk
	volume place
	paths  names
}

// unique refuses a path that another source has; the error shows a value.
func (f *projectedFiles) unique(at, shown string) {
	if !f.paths.add(at) {
		f.invalidAs(f.volume, shown, "conflicting duplicate paths")
	}
}

func (f *projectedFiles) source(source place) {
	n := 0
	for _, name := range [...]string{"secret", "configMap", "downwardAPI", "serviceAccountToken", "clusterTrustBundle", "podCertificate"} {
		s := source.at(name)
		if !s.is() {
			continue
		}
		n++
		switch name {
		case "secret", "configMap":
			f.present(s.at("name"))
			items := s.at("items")
			for i := range items.indexes() {
				item := items.item(i)
				if f.file(item); item.text("path") != "" {
					f.unique(item.text("path"), s.text("name"))
				}
			}
		case "downwardAPI":
			for item := range s.Get("items").Items() {
				s.Value = item
				if f.podFile(s); s.text("path") != "" {
					f.unique(s.text("path"), s.text("path"))
				}
			}
		case "serviceAccountToken":
			f.token(s)
		case "clusterTrustBundle":
			f.trustBundle(s)
		case "podCertificate":
			f.certificate(s)
		}
	}
	if n > 1 {
		f.forbidden(source, "may not specify more than 1 volume type per source")
	}
}

func (f *projectedFiles) token(s place) {
	switch seconds := s.at("expirationSeconds"); {
	case !seconds.is():
		f.required(seconds, "")
	case seconds.Int() < 600:
		f.invalid(seconds, "may not specify a duration less than 10 minutes")
	case seconds.Int() > 1<<32:
		f.invalid(seconds, "may not specify a duration larger than 2^32 seconds")
	}
	at := f.volume.below(s.Get("path"), "path", isMember) // where the error is
	if f.present(at) {
		f.reserved(at, at)
	}
	f.user(s, "user")
}

func (f *projectedFiles) trustBundle(s place) {
	name, signer, selector := s.at("name"), s.at("signerName"), s.at("labelSelector")
	switch {
	case name.is() && signer.is():
		f.invalid(s, "only one of name and signerName may be used")
	case name.is():
		if name.Str() == "" {
			f.required(name, "must be a valid object name")
		}
		for _, wrong := range trustBundleName(name.Str()) {
			f.invalid(name, "not a valid clustertrustbundlename: "+wrong)
		}
		if selector.is() {
			f.invalid(selector, "labelSelector must be unset if name is specified")
		}
	case signer.is():
		if signer.Str() == "" {
			f.required(signer, "must be a valid signer name")
		}
		f.signerName(signer)
		if selector.is() {
			f.selector(selector)
		}
	default:
		f.required(s, "either name or signerName must be specified")
	}
	at := s.at("path")
	f.present(at)
	f.user(s, "user")
	f.reserved(at, at)
	f.unique(at.Str(), at.Str())
}

// user validates who owns a file, or the files of a volume.
func (r *report) user(p place, member string) { r.within(p.at(member), 0, math.MaxInt32) }

// Limits of the life of certificates, in seconds.
const (
	shortestCertificate = 3600
	longestCertificate  = 91 * 86400
	longestOfKubernetes = 86400
)

var keyTypes = []string{"RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519"}

func (f *projectedFiles) certificate(s place) {
	signer := s.at("signerName")
	f.signerName(signer)
	if annotations := s.at("userAnnotations"); annotations.is() {
		f.userAnnotations(annotations)
	}
	f.user(s, "user")
	f.textAmong(s.at("keyType"), keyTypes...)
	if seconds := s.at("maxExpirationSeconds"); seconds.is() {
		longest := longestCertificateOf(signer.Str())
		if seconds.Int() < shortestCertificate {
			f.invalid(seconds, "if provided, maxExpirationSeconds must be >= 3600")
		}
		if seconds.Int() > longest {
			f.invalid(seconds, fmt.Sprintf("if provided, maxExpirationSeconds must be <= %d", longest))
		}
	}
	n := 0
	for _, name := range [...]string{"credentialBundlePath", "keyPath", "certificateChainPath"} {
		if at := s.at(name); at.Str() != "" {
			n++
			f.reserved(at, at)
			f.unique(at.Str(), at.Str())
		}
	}
	if n == 0 {
		f.required(s, "specify at least one of credentialBundlePath, keyPath, and certificateChainPath")
	}
}

func longestCertificateOf(signer string) int64 {
	if domain, _, _ := strings.Cut(signer, "/"); domain == "kubernetes.io" || strings.HasSuffix(domain, ".kubernetes.io") {
		return longestOfKubernetes
	}
	return longestCertificate
}

// userAnnotations validates annotations that a signer gets.
func (r *report) userAnnotations(p place) {
	all := make(map[string]string, p.Len())
	for name, text := range p.Members() {
		all[name] = text.Str()
		r.errs = append(r.errs, validation.IsDomainPrefixedKey(p.path(), strings.ToLower(name))...)
	}
	if err := apivalidation.ValidateAnnotationsSize(all); err != nil {
		r.add(field.TooLong(p.path(), "", apivalidation.TotalAnnotationSizeLimitB))
	}
}

// signerName validates the name of a signer: a domain, a slash, and a path.
func (r *report) signerName(p place) {
	if !r.present(p) {
		return
	}
	domain, rest, ok := strings.Cut(p.Str(), "/")
	if !ok || strings.Contains(rest, "/") {
		r.invalid(p, "must be a fully qualified domain and path of the form 'example.com/signer-name'")
		return
	}
	if len(domain) > validation.DNS1123SubdomainMaxLength {
		r.add(field.TooLong(p.path(), "", validation.DNS1123SubdomainMaxLength))
	}
	r.segments(p, domain, domain, validation.IsDNS1123Label)
	if !strings.Contains(domain, ".") {
		r.invalidAs(p, domain, "should be a domain with at least two segments separated by dots")
	}
	r.segments(p, rest, rest, validation.IsDNS1123Subdomain)
	const longest = 2*validation.DNS1123SubdomainMaxLength + validation.DNS1123LabelMaxLength + 2
	if len(p.Str()) > longest {
		r.add(field.TooLong(p.path(), "", longest))
	}
}

// segments validates the parts of a text between dots, up to the first that is wrong.
func (r *report) segments(p place, text, shown string, rule func(string) []string) {
	for segment := range strings.SplitSeq(text, ".") {
		if wrong := rule(segment); len(wrong) > 0 {
			for _, detail := range wrong {
				r.invalidAs(p, shown, fmt.Sprintf("validating label %q: %s", segment, detail))
			}
			return
		}
	}
}

// trustBundleName returns what is wrong with the name of a ClusterTrustBundle: one of a signer begins with its name.
func trustBundleName(name string) []string {
	signer, _ := signerOfBundle(name)
	return trustBundleNameFor(signer)(name, false)
}

// signerOfBundle returns the signer that the name of a ClusterTrustBundle names.
func signerOfBundle(name string) (string, bool) {
	end := strings.LastIndex(name, ":")
	if end < 0 {
		return "", false
	}
	return strings.ReplaceAll(name[:end], ":", "/"), true
}

// trustBundleNameFor returns the rule for names of ClusterTrustBundles of a signer, or of none.
func trustBundleNameFor(signer string) apivalidation.ValidateNameFunc {
	return func(name string, prefix bool) []string {
		if signer == "" {
			if strings.Contains(name, ":") {
				return []string{"ClusterTrustBundle without signer name must not have \":\" in its name"}
			}
			return apivalidation.NameIsDNSSubdomain(name, prefix)
		}
		required := strings.ReplaceAll(signer, "/", ":") + ":"
		rest, ok := strings.CutPrefix(name, required)
		if !ok {
			return []string{fmt.Sprintf("ClusterTrustBundle for signerName %s must be named with prefix %s", signer, required)}
		}
		return apivalidation.NameIsDNSSubdomain(rest, prefix)
	}
}
