package validation

import "math"

// containerSecurity refuses as what a container runs.
func (w *podWalk) containerSecurity(p place) {
	if !p.is() {
		return
	}
	w.ids(p, "runAsUser", "runAsGroup")
	w.seccomp(p.at("seccompProfile"))
	if raised := p.Get("allowPrivilegeEscalation"); isSet(raised) && !raised.Bool() {
		if p.Get("privileged").Bool() {
			w.invalid(p, "cannot set `allowPrivilegeEscalation` to false and `privileged` to true")
		}
	}
}

// podSecurity refuses as what all containers of a pod run.
func (w *podWalk) podSecurity(p place) {
	if !p.is() || p.Len() == 0 {
		return
	}
	w.ids(p, "fsGroup", "runAsUser", "runAsGroup")
	groups := p.at("supplementalGroups")
	for i := range groups.indexes() {
		w.within(groups.item(i), 0, math.MaxInt32)
	}
	sysctls := p.at("sysctls")
	var met names
	for i := range sysctls.indexes() {
		s := sysctls.item(i)
		if name := s.at("name"); w.present(name) && !met.add(name.Str()) {
			w.duplicate(name)
		}
	}
	if policy := p.at("fsGroupChangePolicy"); policy.is() {
		w.onlyAmong(policy, "Always", "OnRootMismatch")
	}
	w.seccomp(p.at("seccompProfile"))
}

func (w *podWalk) ids(p place, members ...string) {
	for _, name := range members {
		w.within(p.at(name), 0, math.MaxInt32)
	}
}

// seccomp refuses a profile of system calls.
func (w *podWalk) seccomp(p place) {
	if !p.is() {
		return
	}
	if typ := p.at("type"); typ.Str() == "" {
		w.required(typ, "type is required when seccompProfile is set")
	} else {
		w.onlyAmong(typ, "Localhost", "RuntimeDefault", "Unconfined")
	}
	file := p.at("localhostProfile")
	switch local := p.text("type") == "Localhost"; {
	case local && !file.is():
		w.required(file, "must be set when seccomp type is Localhost")
	case local:
		w.descending(file, file)
	case file.is():
		w.invalidAs(file, p.ToAny(), "can only be set when seccomp type is Localhost")
	}
}
