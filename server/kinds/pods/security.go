package pods

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/server/kinds/walk"
	"github.com/deed-project/deed/value"
)

// eachContainer calls visit with the containers of a pod: those that run first, those that run, and those that are added later.
func (w *podWalk) eachContainer(visit func(c walk.Place)) {
	for _, name := range [...]string{"initContainers", "containers", "ephemeralContainers"} {
		list := w.spec.At(name)
		for i := range list.Indexes() {
			visit(list.Index(i))
		}
	}
}

// containerSecurity validates as what a container runs.
func (w *podWalk) containerSecurity(p walk.Place) {
	if !p.IsSet() {
		return
	}
	if w.Unprivileged && p.Get("privileged").Bool() {
		w.Forbidden(p.At("privileged"), "disallowed by cluster policy")
	}
	w.ids(p, "runAsUser", "runAsGroup")
	if mount := p.At("procMount"); mount.IsSet() {
		w.OnlyAmong(mount, "Default", "Unmasked")
		if users := w.spec.Get("hostUsers"); mount.Str() == "Unmasked" && (!walk.IsSet(users) || users.Bool()) {
			w.Invalid(mount, "`hostUsers` must be false to use `Unmasked`")
		}
	}
	w.seccomp(p.At("seccompProfile"))
	if raised := p.Get("allowPrivilegeEscalation"); walk.IsSet(raised) && !raised.Bool() {
		if p.Get("privileged").Bool() {
			w.Invalid(p, "cannot set `allowPrivilegeEscalation` to false and `privileged` to true")
		}
		for added := range p.Get("capabilities", "add").Items() {
			if added.Str() == sysAdmin && !w.hadSysAdmin() {
				w.Invalid(p, "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN")
			}
		}
	}
	w.windowsOptions(p.At("windowsOptions"))
	w.appArmor(p.At("appArmorProfile"))
}

// sysAdmin is the capability that raises all others.
const sysAdmin = "CAP_SYS_ADMIN"

// hadSysAdmin reports whether a container of the object that is replaced has sysAdmin, and does not say that it may raise others. Then containers may
// have it and say that they may not.
func (w *podWalk) hadSysAdmin() bool {
	if w.sysAdmin == nil {
		had := w.Pods != "" && hasSysAdmin(w.Live.Get(strings.Split(w.Pods, ".")...))
		w.sysAdmin = &had
	}
	return *w.sysAdmin
}

// hasSysAdmin reports whether a container of a pod has sysAdmin, and does not say that it may raise others.
func hasSysAdmin(spec value.Value) bool {
	for _, list := range containerLists {
		for c := range spec.Get(list).Items() {
			context := c.Get("securityContext")
			for added := range context.Get("capabilities", "add").Items() {
				if added.Str() == sysAdmin && !context.Get("allowPrivilegeEscalation").Bool() {
					return true
				}
			}
		}
	}
	return false
}

// podSecurity validates as what all containers of a pod run.
func (w *podWalk) podSecurity(p walk.Place) {
	if !p.IsSet() || p.Len() == 0 {
		return
	}
	w.ids(p, "fsGroup", "runAsUser", "runAsGroup")
	groups := p.At("supplementalGroups")
	for i := range groups.Indexes() {
		w.Within(groups.Index(i), 0, math.MaxInt32)
	}
	w.sysctls(p.At("sysctls"))
	if policy := p.At("fsGroupChangePolicy"); policy.IsSet() {
		w.OnlyAmong(policy, "Always", "OnRootMismatch")
	}
	w.seccomp(p.At("seccompProfile"))
	w.windowsOptions(p.At("windowsOptions"))
	w.appArmor(p.At("appArmorProfile"))
	if policy := p.At("supplementalGroupsPolicy"); policy.IsSet() {
		w.OnlyAmong(policy, "Merge", "Strict")
	}
	if policy := p.At("seLinuxChangePolicy"); policy.IsSet() {
		w.OnlyAmong(policy, w.mountPolicies()...)
	}
}

// mountPolicies returns the values of seLinuxChangePolicy that may be set. Before v1.37, an object that had none can only get one of them.
func (w *podWalk) mountPolicies() []string {
	pods := w.Live.Get(strings.Split(w.Pods, ".")...)
	if w.Before(37) && pods.Get("securityContext", "seLinuxChangePolicy").IsAbsent() {
		return []string{"Recursive"}
	}
	return []string{"MountOption", "Recursive"}
}

var sysctlName = walk.LazyRegexp(`^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$`)

// sysctls validates parameters of the kernel. A pod in a namespace of its node cannot set those of the namespace.
func (w *podWalk) sysctls(p walk.Place) {
	var met walk.Names
	for i := range p.Indexes() {
		s := p.Index(i)
		name := s.At("name")
		switch text := name.Str(); {
		case text == "":
			w.Required(name, "")
		case len(text) > 253 || !sysctlName().MatchString(text):
			w.Invalid(name, fmt.Sprintf("must have at most 253 characters and match regex %s", sysctlName()))
		case met.Has(text):
			w.Duplicate(name)
		}
		met.Add(name.Str())
		w.hostSysctl(name)
	}
}

// hostSysctl refuses a parameter of the kernel that is one of the namespace which the pod shares with its node.
func (w *podWalk) hostSysctl(name walk.Place) {
	text, _, _ := strings.Cut(withDots(name.Str()), "*")
	switch {
	case w.spec.Get("hostNetwork").Bool() && strings.HasPrefix(text, "net."):
		w.InvalidAs(name, name.Str(), "may not be specified when 'hostNetwork' is true")
	case w.spec.Get("hostIPC").Bool() && (slices.Contains(ipcSysctls, text) || strings.HasPrefix(text, "fs.mqueue.")):
		w.InvalidAs(name, name.Str(), "may not be specified when 'hostIPC' is true")
	}
}

// ipcSysctls are the parameters of a namespace of interprocess communication, besides those of message queues.
var ipcSysctls = []string{
	"kernel.sem", "kernel.shmall", "kernel.shmmax", "kernel.shmmni", "kernel.shm_rmid_forced", "kernel.shm",
	"kernel.msgmax", "kernel.msgmnb", "kernel.msgmni", "kernel.msg",
}

// withDots returns the name of a parameter with dots between its parts. In a name whose first separator is a slash, slashes separate parts, and
// dots stand for slashes in them: net/ipv4/conf/eno2.100/rp_filter.
func withDots(name string) string {
	if i := strings.IndexAny(name, "./"); i < 0 || name[i] == '.' {
		return name
	}
	return strings.Map(func(r rune) rune {
		switch r {
		case '.':
			return '/'
		case '/':
			return '.'
		}
		return r
	}, name)
}

func (w *podWalk) ids(p walk.Place, members ...string) {
	for _, name := range members {
		w.Within(p.At(name), 0, math.MaxInt32)
	}
}

// seccomp validates a profile of system calls.
func (w *podWalk) seccomp(p walk.Place) {
	if !p.IsSet() {
		return
	}
	if typ := p.At("type"); typ.Str() == "" {
		w.Required(typ, "type is required when seccompProfile is set")
	} else {
		w.OnlyAmong(typ, "Localhost", "RuntimeDefault", "Unconfined")
	}
	file := p.At("localhostProfile")
	switch local := p.Text("type") == "Localhost"; {
	case local && !file.IsSet():
		w.Required(file, "must be set when seccomp type is Localhost")
	case local:
		validateDescending(w.Report, file, file)
	case file.IsSet():
		w.InvalidAs(file, struct{ Type, LocalhostProfile string }{p.Text("type"), file.Str()}, "can only be set when seccomp type is Localhost")
	}
}

// appArmor validates a profile of AppArmor.
func (w *podWalk) appArmor(p walk.Place) {
	if !p.IsSet() {
		return
	}
	typ, file := p.At("type"), p.At("localhostProfile")
	switch text := file.Str(); typ.Str() {
	case "Localhost":
		switch {
		case text != strings.TrimSpace(text):
			w.Invalid(file, "must not be padded with whitespace")
		case text == "":
			w.Required(file, "must be set when AppArmor type is Localhost")
		}
		if len(text) > maxProfile {
			w.Add(field.TooLong(file.Path(), "", maxProfile))
		}
	case "RuntimeDefault", "Unconfined":
		if file.IsSet() {
			w.InvalidPointer(file, "can only be set when AppArmor type is Localhost")
		}
	case "":
		w.Required(typ, "type is required when appArmorProfile is set")
	default:
		w.OnlyAmong(typ, "Localhost", "RuntimeDefault", "Unconfined")
	}
}

// Forms of names of users of Windows.
var (
	controls    = walk.LazyRegexp(`[[:cntrl:]]+`)
	netBIOS     = walk.LazyRegexp(`^[^\\/:\*\?"<>|\.][^\\/:\*\?"<>|]{0,14}$`)
	userDomain  = walk.LazyRegexp(`^[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$`)
	noUserChars = walk.LazyRegexp(`["/\\:;|=,\+\*\?<>@\[\]]`)
	dotsOnly    = walk.LazyRegexp(`^[\. ]+$`)
)

func (w *podWalk) windowsOptions(p walk.Place) {
	if !p.IsSet() {
		return
	}
	if name := p.At("gmsaCredentialSpecName"); name.IsSet() {
		w.InvalidPointer(name, validation.IsDNS1123Subdomain(name.Str())...)
	}
	if spec := p.At("gmsaCredentialSpec"); spec.IsSet() {
		switch n := len(spec.Str()); {
		case n == 0:
			w.InvalidPointer(spec, "gmsaCredentialSpec cannot be an empty string")
		case n > 64*1024:
			w.InvalidPointer(spec, "gmsaCredentialSpec size must be under 64 KiB")
		}
	}
	name := p.At("runAsUserName")
	switch text := name.Str(); {
	case !name.IsSet():
	case text == "":
		w.InvalidPointer(name, "runAsUserName cannot be an empty string")
	case controls().MatchString(text):
		w.InvalidPointer(name, "runAsUserName cannot contain control characters")
	case strings.Count(text, `\`) > 1:
		w.InvalidPointer(name, "runAsUserName cannot contain more than one backslash")
	default:
		w.windowsUser(name)
	}
}

// windowsUser validates the name of a user, which may follow the name of a domain.
func (w *podWalk) windowsUser(name walk.Place) {
	domain, user, qualified := strings.Cut(name.Str(), `\`)
	if !qualified {
		domain, user = "", domain
	}
	if len(domain) >= 256 {
		w.InvalidPointer(name, "runAsUserName's Domain length must be under 256 characters")
	}
	if qualified && !netBIOS().MatchString(domain) && !userDomain().MatchString(domain) {
		w.InvalidPointer(name, "runAsUserName's Domain doesn't match the NetBios nor the DNS format")
	}
	switch n := len(user); {
	case n == 0:
		w.InvalidPointer(name, "runAsUserName's User cannot be empty")
	case n > 104:
		w.InvalidPointer(name, "runAsUserName's User length must not be longer than 104 characters")
	}
	if dotsOnly().MatchString(user) {
		w.InvalidPointer(name, "runAsUserName's User cannot contain only periods or spaces")
	}
	if noUserChars().MatchString(user) {
		w.InvalidPointer(name, `runAsUserName's User cannot contain the following characters: "/\:;|=,+*?<>@[]`)
	}
}

// hostProcess validates containers of Windows that run as processes of their node.
func (w *podWalk) hostProcess() {
	ofPod := w.spec.Get("securityContext", "windowsOptions", "hostProcess")
	n, on := 0, 0
	w.eachContainer(func(c walk.Place) {
		n++
		own := c.Get("securityContext", "windowsOptions", "hostProcess")
		if walk.IsSet(ofPod) && walk.IsSet(own) && ofPod.Bool() != own.Bool() {
			security := c.At("securityContext")
			options := security.At("windowsOptions")
			w.Invalid(options.At("hostProcess"), fmt.Sprintf("pod hostProcess value must be identical if both are specified, was %v", ofPod.Bool()))
		}
		if walk.IsSet(own) && own.Bool() || !walk.IsSet(own) && ofPod.Bool() {
			on++
		}
	})
	if on == 0 {
		return
	}
	if on != n {
		w.InvalidAs(w.spec, "", "If pod contains any hostProcess containers then all containers must be HostProcess containers")
	}
	if network := w.spec.At("hostNetwork"); !network.Bool() {
		w.InvalidAs(network, false, "hostNetwork must be true if pod contains any hostProcess containers")
	}
	if w.Unprivileged {
		w.Forbidden(w.spec, "hostProcess containers are disallowed by cluster policy")
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
func (w *podWalk) system(p walk.Place) {
	switch name := p.At("name"); {
	case !p.IsSet():
	case name.Str() == "":
		w.Required(name, "")
	case name.Str() == "linux":
		w.NoMembers(w.spec.At("securityContext"), "windows options cannot be set for a linux pod", "windowsOptions")
		w.eachContainer(func(c walk.Place) {
			w.NoMembers(c.At("securityContext"), "windows options cannot be set for a linux pod", "windowsOptions")
		})
	case name.Str() == "windows":
		const why = "cannot be set for a windows pod"
		context := w.spec.At("securityContext")
		if sysctls := context.Get("sysctls"); sysctls.Kind() == value.KindList && sysctls.Len() == 0 {
			context.Value = context.With("sysctls", value.Value{}) // an empty list of these counts as none
		}
		w.NoMembers(context, why, notOfWindowsPods...)
		for _, name := range [...]string{"hostUsers", "hostPID", "hostIPC", "shareProcessNamespace"} {
			if m := w.spec.At(name); m.IsSet() && (m.Bool() || name == "hostUsers" || name == "shareProcessNamespace") {
				w.Forbidden(m, why)
			}
		}
		w.eachContainer(func(c walk.Place) { w.NoMembers(c.At("securityContext"), why, notOfWindowsContainers...) })
	default:
		p.Value = name.Value
		w.OnlyAmong(p, "linux", "windows")
	}
}

// hostUsers validates a pod with users of its own.
func (w *podWalk) hostUsers() {
	if users := w.spec.Get("hostUsers"); !walk.IsSet(users) || users.Bool() {
		return
	}
	if network := w.spec.At("hostNetwork"); network.Bool() {
		w.Forbidden(network, "when `hostUsers` is false")
	}
	if pid := w.spec.Get("hostPID"); pid.Bool() {
		w.Forbidden(w.spec.Below(pid, "HostPID", walk.IsMember), "when `hostUsers` is false")
	}
	if ipc := w.spec.Get("hostIPC"); ipc.Bool() {
		w.Forbidden(w.spec.Below(ipc, "HostIPC", walk.IsMember), "when `hostUsers` is false")
	}
	w.eachContainer(func(c walk.Place) {
		if devices := c.At("volumeDevices"); devices.Len() > 0 {
			w.Forbidden(devices, "when `hostUsers` is false")
		}
	})
}
