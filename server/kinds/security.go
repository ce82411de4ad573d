package kinds

import (
	"fmt"
	"math"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// eachContainer calls visit with the containers of a pod: those that run first, those that run, and those that are added later.
func (w *podWalk) eachContainer(visit func(c place)) {
	for _, name := range [...]string{"initContainers", "containers", "ephemeralContainers"} {
		list := w.spec.at(name)
		for i := range list.indexes() {
			visit(list.item(i))
		}
	}
}

// containerSecurity validates as what a container runs.
func (w *podWalk) containerSecurity(p place) {
	if !p.is() {
		return
	}
	w.ids(p, "runAsUser", "runAsGroup")
	if mount := p.at("procMount"); mount.is() {
		w.onlyAmong(mount, "Default", "Unmasked")
		if users := w.spec.Get("hostUsers"); mount.Str() == "Unmasked" && (!isSet(users) || users.Bool()) {
			w.invalid(mount, "`hostUsers` must be false to use `Unmasked`")
		}
	}
	w.seccomp(p.at("seccompProfile"))
	if raised := p.Get("allowPrivilegeEscalation"); isSet(raised) && !raised.Bool() {
		if p.Get("privileged").Bool() {
			w.invalid(p, "cannot set `allowPrivilegeEscalation` to false and `privileged` to true")
		}
		for added := range p.Get("capabilities", "add").Items() {
			if added.Str() == "CAP_SYS_ADMIN" {
				w.invalid(p, "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN")
			}
		}
	}
	w.windowsOptions(p.at("windowsOptions"))
	w.appArmor(p.at("appArmorProfile"))
}

// podSecurity validates as what all containers of a pod run.
func (w *podWalk) podSecurity(p place) {
	if !p.is() || p.Len() == 0 {
		return
	}
	w.ids(p, "fsGroup", "runAsUser", "runAsGroup")
	groups := p.at("supplementalGroups")
	for i := range groups.indexes() {
		w.within(groups.item(i), 0, math.MaxInt32)
	}
	w.sysctls(p.at("sysctls"))
	if policy := p.at("fsGroupChangePolicy"); policy.is() {
		w.onlyAmong(policy, "Always", "OnRootMismatch")
	}
	w.seccomp(p.at("seccompProfile"))
	w.windowsOptions(p.at("windowsOptions"))
	w.appArmor(p.at("appArmorProfile"))
	if policy := p.at("supplementalGroupsPolicy"); policy.is() {
		w.onlyAmong(policy, "Merge", "Strict")
	}
	if policy := p.at("seLinuxChangePolicy"); policy.is() {
		w.onlyAmong(policy, w.mountPolicies()...)
	}
}

// mountPolicies returns the values of seLinuxChangePolicy that may be set. Before v1.37, an object that had none can only get one of them.
func (w *podWalk) mountPolicies() []string {
	pods := w.live.Get(strings.Split(w.pods, ".")...)
	if w.before(37) && pods.Get("securityContext", "seLinuxChangePolicy").IsAbsent() {
		return []string{"Recursive"}
	}
	return []string{"MountOption", "Recursive"}
}

var sysctlName = lazyRegexp(`^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$`)

// sysctls validates parameters of the kernel. A pod in a namespace of its node cannot set those of the namespace.
func (w *podWalk) sysctls(p place) {
	var met names
	for i := range p.indexes() {
		s := p.item(i)
		name := s.at("name")
		switch text := name.Str(); {
		case text == "":
			w.required(name, "")
		case len(text) > 253 || !sysctlName().MatchString(text):
			w.invalid(name, fmt.Sprintf("must have at most 253 characters and match regex %s", sysctlName()))
		case met.has(text):
			w.duplicate(name)
		}
		met.add(name.Str())
		w.hostSysctl(name)
	}
}

func (w *podWalk) hostSysctl(name place) {
	text := strings.ReplaceAll(name.Str(), "/", ".")
	ipc := strings.HasPrefix(text, "kernel.shm") || strings.HasPrefix(text, "kernel.msg") || strings.HasPrefix(text, "fs.mqueue.") || text == "kernel.sem"
	switch {
	case w.spec.Get("hostNetwork").Bool() && strings.HasPrefix(text, "net."):
		w.invalidAs(name, name.Str(), "may not be specified when 'hostNetwork' is true")
	case w.spec.Get("hostIPC").Bool() && ipc:
		w.invalidAs(name, name.Str(), "may not be specified when 'hostIPC' is true")
	}
}

func (w *podWalk) ids(p place, members ...string) {
	for _, name := range members {
		w.within(p.at(name), 0, math.MaxInt32)
	}
}

// seccomp validates a profile of system calls.
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
		w.invalidAs(file, struct{ Type, LocalhostProfile string }{p.text("type"), file.Str()}, "can only be set when seccomp type is Localhost")
	}
}

// appArmor validates a profile of AppArmor.
func (w *podWalk) appArmor(p place) {
	if !p.is() {
		return
	}
	typ, file := p.at("type"), p.at("localhostProfile")
	switch text := file.Str(); typ.Str() {
	case "Localhost":
		switch {
		case text != strings.TrimSpace(text):
			w.invalid(file, "must not be padded with whitespace")
		case text == "":
			w.required(file, "must be set when AppArmor type is Localhost")
		}
		if len(text) > 4095 {
			w.add(field.TooLong(file.path(), "", 4095))
		}
	case "RuntimeDefault", "Unconfined":
		if file.is() {
			w.invalid(file, "can only be set when AppArmor type is Localhost")
		}
	case "":
		w.required(typ, "type is required when appArmorProfile is set")
	default:
		w.onlyAmong(typ, "Localhost", "RuntimeDefault", "Unconfined")
	}
}

// Forms of names of users of Windows.
var (
	controls    = lazyRegexp(`[[:cntrl:]]+`)
	netBIOS     = lazyRegexp(`^[^\\/:\*\?"<>|\.][^\\/:\*\?"<>|]{0,14}$`)
	userDomain  = lazyRegexp(`^[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$`)
	noUserChars = lazyRegexp(`["/\\:;|=,\+\*\?<>@\[\]]`)
	dotsOnly    = lazyRegexp(`^[\. ]+$`)
)

func (w *podWalk) windowsOptions(p place) {
	if !p.is() {
		return
	}
	if name := p.at("gmsaCredentialSpecName"); name.is() {
		w.invalidPointer(name, validation.IsDNS1123Subdomain(name.Str())...)
	}
	if spec := p.at("gmsaCredentialSpec"); spec.is() {
		switch n := len(spec.Str()); {
		case n == 0:
			w.invalidPointer(spec, "gmsaCredentialSpec cannot be an empty string")
		case n > 64*1024:
			w.invalidPointer(spec, "gmsaCredentialSpec size must be under 64 KiB")
		}
	}
	name := p.at("runAsUserName")
	switch text := name.Str(); {
	case !name.is():
	case text == "":
		w.invalidPointer(name, "runAsUserName cannot be an empty string")
	case controls().MatchString(text):
		w.invalidPointer(name, "runAsUserName cannot contain control characters")
	case strings.Count(text, `\`) > 1:
		w.invalidPointer(name, "runAsUserName cannot contain more than one backslash")
	default:
		w.windowsUser(name)
	}
}

// windowsUser validates the name of a user, which may follow the name of a domain.
func (w *podWalk) windowsUser(name place) {
	domain, user, qualified := strings.Cut(name.Str(), `\`)
	if !qualified {
		domain, user = "", domain
	}
	if len(domain) >= 256 {
		w.invalidPointer(name, "runAsUserName's Domain length must be under 256 characters")
	}
	if qualified && !netBIOS().MatchString(domain) && !userDomain().MatchString(domain) {
		w.invalidPointer(name, "runAsUserName's Domain doesn't match the NetBios nor the DNS format")
	}
	switch n := len(user); {
	case n == 0:
		w.invalidPointer(name, "runAsUserName's User cannot be empty")
	case n > 104:
		w.invalidPointer(name, "runAsUserName's User length must not be longer than 104 characters")
	}
	if dotsOnly().MatchString(user) {
		w.invalidPointer(name, "runAsUserName's User cannot contain only periods or spaces")
	}
	if noUserChars().MatchString(user) {
		w.invalidPointer(name, `runAsUserName's User cannot contain the following characters: "/\:;|=,+*?<>@[]`)
	}
}

// hostProcess validates containers of Windows that run as processes of their node.
func (w *podWalk) hostProcess() {
	ofPod := w.spec.Get("securityContext", "windowsOptions", "hostProcess")
	n, on := 0, 0
	w.eachContainer(func(c place) {
		n++
		own := c.Get("securityContext", "windowsOptions", "hostProcess")
		if isSet(ofPod) && isSet(own) && ofPod.Bool() != own.Bool() {
			security := c.at("securityContext")
			options := security.at("windowsOptions")
			w.invalid(options.at("hostProcess"), fmt.Sprintf("pod hostProcess value must be identical if both are specified, was %v", ofPod.Bool()))
		}
		if isSet(own) && own.Bool() || !isSet(own) && ofPod.Bool() {
			on++
		}
	})
	if on == 0 {
		return
	}
	if on != n {
		w.invalidAs(w.spec, "", "If pod contains any hostProcess containers then all containers must be HostProcess containers")
	}
	if network := w.spec.at("hostNetwork"); !network.Bool() {
		w.invalidAs(network, false, "hostNetwork must be true if pod contains any hostProcess containers")
	}
}

// Members that pods of Windows cannot have.
var (
	notOfWindowsPods = []string{
		"appArmorProfile", "seLinuxOptions", "seccompProfile", "fsGroup", "fsGroupChangePolicy", "sysctls", "runAsUser", "runAsGroup",
		"supplementalGroups", "supplementalGroupsPolicy", "seLinuxChangePolicy",
	}
	notOfWindowsContainers = []string{
		"appArmorProfile", "seLinuxOptions", "seccompProfile", "capabilities", "readOnlyRootFilesystem", "privileged",
		"allowPrivilegeEscalation", "procMount", "runAsUser", "runAsGroup",
	}
)

// system validates what depends on the operating system of a pod.
func (w *podWalk) system(p place) {
	switch name := p.at("name"); {
	case !p.is():
	case name.Str() == "":
		w.required(name, "")
	case name.Str() == "linux":
		w.noMembers(w.spec.at("securityContext"), "windows options cannot be set for a linux pod", "windowsOptions")
		w.eachContainer(func(c place) {
			w.noMembers(c.at("securityContext"), "windows options cannot be set for a linux pod", "windowsOptions")
		})
	case name.Str() == "windows":
		const why = "cannot be set for a windows pod"
		w.noMembers(w.spec.at("securityContext"), why, notOfWindowsPods...)
		for _, name := range [...]string{"hostUsers", "hostPID", "hostIPC", "shareProcessNamespace"} {
			if m := w.spec.at(name); m.is() && (m.Bool() || name == "hostUsers" || name == "shareProcessNamespace") {
				w.forbidden(m, why)
			}
		}
		w.eachContainer(func(c place) { w.noMembers(c.at("securityContext"), why, notOfWindowsContainers...) })
	default:
		p.Value = name.Value
		w.onlyAmong(p, "linux", "windows")
	}
}

// noMembers refuses members that an object must not have.
func (r *report) noMembers(p place, why string, members ...string) {
	for _, name := range members {
		if m := p.at(name); m.is() {
			r.forbidden(m, why)
		}
	}
}

// hostUsers validates a pod with users of its own.
func (w *podWalk) hostUsers() {
	if users := w.spec.Get("hostUsers"); !isSet(users) || users.Bool() {
		return
	}
	if network := w.spec.at("hostNetwork"); network.Bool() {
		w.forbidden(network, "when `hostUsers` is false")
	}
	if pid := w.spec.Get("hostPID"); pid.Bool() {
		w.forbidden(w.spec.below(pid, "HostPID", isMember), "when `hostUsers` is false")
	}
	if ipc := w.spec.Get("hostIPC"); ipc.Bool() {
		w.forbidden(w.spec.below(ipc, "HostIPC", isMember), "when `hostUsers` is false")
	}
	w.eachContainer(func(c place) {
		if devices := c.at("volumeDevices"); devices.Len() > 0 {
			w.forbidden(devices, "when `hostUsers` is false")
		}
	})
}
