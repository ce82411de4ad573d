package validation

import (
	"slices"
	"strings"
)

// volumeSources are what a volume may be, in the order in which they are looked at.
var volumeSources = []string{
	"emptyDir", "hostPath", "gitRepo", "gcePersistentDisk", "awsElasticBlockStore", "secret", "nfs", "iscsi", "glusterfs", "flocker",
	"persistentVolumeClaim", "rbd", "cinder", "cephfs", "quobyte", "downwardAPI", "fc", "flexVolume", "configMap", "azureFile",
	"vsphereVolume", "photonPersistentDisk", "portworxVolume", "azureDisk", "storageos", "scaleIO", "projected", "csi", "ephemeral", "image",
}

// volumeList refuses volumes of a pod, and notes the names of the others: only those may be mounted.
func (w *podWalk) volumeList(p place) {
	for i := range p.indexes() {
		v, before := p.item(i), len(w.errs)
		name := v.at("name")
		w.source(v)
		if w.present(name) {
			w.label(name)
		}
		if w.volumes.has(name.Str()) {
			w.duplicate(name)
		}
		if len(w.errs) == before {
			w.volumes.add(name.Str())
		}
	}
}

// source refuses a volume that is nothing, or several things.
func (w *podWalk) source(v place) {
	found := false
	for i := range v.indexes() { // of the members that it has, as most have two
		if name := v.Member(i).Name; name != "name" && isSet(v.Member(i).Value) && slices.Contains(volumeSources, name) {
			if found {
				w.oneSource(v)
				return
			}
			found = true
			w.sourceOf(v.at(name))
		}
	}
	if !found {
		w.required(v, "must specify a volume type")
	}
}

// oneSource refuses all but the first of what a volume is.
func (w *podWalk) oneSource(v place) {
	found := false
	for _, name := range volumeSources {
		s := v.at(name)
		switch {
		case !s.is():
		case found:
			w.forbidden(s, "may not specify more than 1 volume type")
		default:
			found = true
		}
	}
}

// sourceOf refuses what is wrong with what a volume is.
func (w *podWalk) sourceOf(s place) {
	switch s.name() {
	case "emptyDir":
		if size := s.at("sizeLimit"); strings.HasPrefix(size.Str(), "-") {
			w.forbidden(size, "SizeLimit field must be a valid resource quantity")
		}
	case "hostPath":
		at := s.at("path")
		if w.present(at) {
			w.noBacksteps(at, at)
			w.hostPathType(s.at("type"))
		}
	case "secret":
		w.present(s.at("secretName"))
		w.files(s)
	case "configMap":
		w.present(s.at("name"))
		w.files(s)
	case "persistentVolumeClaim":
		w.present(s.at("claimName"))
	case "nfs":
		w.present(s.at("server"))
		if at := s.at("path"); w.present(at) && !strings.HasPrefix(at.Str(), "/") {
			w.invalid(at, "must be an absolute path")
		}
	case "csi":
		w.present(s.at("driver"))
	case "projected":
		w.projected(s)
	case "ephemeral":
		if template := s.at("volumeClaimTemplate"); !template.is() {
			w.required(template, "")
		}
	}
}

// hostPathTypes are what may be looked for at a path of a node.
var hostPathTypes = []string{"", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"}

func (w *podWalk) hostPathType(p place) {
	if p.is() {
		w.onlyAmong(p, hostPathTypes...)
	}
}

// files refuses the files that keys of an object become.
func (w *podWalk) files(s place) {
	w.mode(s.at("defaultMode"))
	items := s.at("items")
	for i := range items.indexes() {
		item := items.item(i)
		at := item.at("path")
		w.present(item.at("key"))
		w.present(at)
		w.descending(at, at)
		if strings.HasPrefix(at.Str(), "..") && !strings.HasPrefix(at.Str(), "../") && at.Str() != ".." {
			w.invalid(at, "must not start with '..'")
		}
		w.mode(item.at("mode"))
	}
}

// mode refuses what are no permissions of a file.
func (w *podWalk) mode(p place) {
	if n := p.Int(); n < 0 || n > 0o777 {
		w.invalid(p, "must be a number between 0 and 0777 (octal), both inclusive")
	}
}

// projected refuses several objects that become files in one place.
func (w *podWalk) projected(s place) {
	w.mode(s.at("defaultMode"))
	sources := s.at("sources")
	for i := range sources.indexes() {
		source := sources.item(i)
		for _, name := range [...]string{"secret", "configMap"} {
			if object := source.at(name); object.is() {
				w.present(object.at("name"))
				w.files(object)
			}
		}
	}
}
