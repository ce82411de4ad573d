package pods

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/server/kinds/walk"
	"github.com/deed-project/deed/value"
)

// containers refuses containers of a pod: those that run until it ends.
func (w *podWalk) containers(p walk.Place) {
	if p.Len() == 0 {
		w.Required(p, "")
		return
	}
	var hostPorts walk.Names
	for i := range p.Indexes() {
		c := p.Index(i)
		w.container(c)
		name := c.At("name")
		if !w.running.Add(name.Str()) {
			w.Duplicate(name)
		}
		w.lifecycle(c)
		w.containerRestarts(c)
	}
	for i := range p.Indexes() {
		c := p.Index(i)
		w.hostPorts(c.At("ports"), &hostPorts)
	}
}

// initContainers validates containers that run first. Those that always restart run on, and may have what others have.
func (w *podWalk) initContainers(p walk.Place) {
	met := w.running
	for i := range p.Indexes() {
		c := p.Index(i)
		w.container(c)
		w.containerRestarts(c)
		// A missing name counts only as that of a container.
		if name := c.At("name"); met.Has(name.Str()) || name.Str() != "" && !met.Add(name.Str()) {
			w.Duplicate(name)
		}
		var hostPorts walk.Names
		w.hostPorts(hostPortsOf(p, i), &hostPorts)
		if c.Text("restartPolicy") == "Always" {
			w.lifecycle(c)
			continue
		}
		w.NoMembers(c, "may not be set for init containers without restartPolicy=Always", "lifecycle", "livenessProbe", "readinessProbe",
			"startupProbe")
		policies := c.At("resizePolicy")
		for i := range policies.Indexes() {
			policy := policies.Index(i)
			if restart := policy.At("restartPolicy"); restart.Str() == "RestartContainer" {
				w.Invalid(restart, "must not be set to 'RestartContainer' for non-sidecar initContainers")
			}
		}
	}
	w.running = met
}

// hostPortsOf returns the ports of the container number i. Errors about init containers have the index 0.
func hostPortsOf(p walk.Place, i int) walk.Place {
	first := p.Below(p.Item(i), "", 0)
	return first.At("ports")
}

// ephemeralContainers validates containers that are added to a pod that runs.
func (w *podWalk) ephemeralContainers(p walk.Place) {
	var others, met walk.Names
	for _, list := range [...]string{"containers", "initContainers"} {
		for c := range w.spec.Get(list).Items() {
			others.Add(c.Get("name").Str())
			met.Add(c.Get("name").Str())
		}
	}
	for i := range p.Indexes() {
		c := p.Index(i)
		w.container(c)
		w.trimmedImage(c)
		if name := c.At("name"); !met.Add(name.Str()) {
			w.Duplicate(name)
		}
		if target := c.At("targetContainerName"); target.Str() != "" && !others.Has(target.Str()) {
			w.Add(field.NotFound(target.Path(), target.Str()))
		}
		const why = "cannot be set for an Ephemeral Container"
		for _, name := range [...]string{
			"ports", "resources", "resizePolicy", "restartPolicy", "restartPolicyRules", "livenessProbe", "readinessProbe", "startupProbe",
			"lifecycle",
		} {
			if m := c.At(name); m.IsSet() && !(name == "resources" && m.Len() == 0) {
				w.Forbidden(m, why)
			}
		}
		mounts := c.At("volumeMounts")
		for i := range mounts.Indexes() {
			mount := mounts.Index(i)
			for _, name := range [...]string{"subPath", "subPathExpr"} {
				if at := mount.At(name); at.Str() != "" {
					w.Forbidden(at, why)
				}
			}
		}
	}
}

// container validates what holds for every container.
func (w *podWalk) container(c walk.Place) {
	if name := c.At("name"); w.Present(name) {
		w.Label(name)
	}
	w.Present(c.At("image"))
	w.Among(c.At("terminationMessagePolicy"), "File", "FallbackToLogsOnError")
	w.ports(c.At("ports"))
	w.env(c.At("env"))
	w.envFrom(c.At("envFrom"))
	w.mounts(c)
	w.volumeDevices(c)
	w.Among(c.At("imagePullPolicy"), "Always", "IfNotPresent", "Never")
	w.resources(c.At("resources"))
	w.resizePolicy(c.At("resizePolicy"))
	w.containerSecurity(c.At("securityContext"))
}

// resizePolicy validates what is done when resources of a container change. Errors are about the list.
func (w *podWalk) resizePolicy(p walk.Place) {
	var met walk.Names
	for i := range p.Indexes() {
		policy := p.Index(i)
		name, restart := policy.At("resourceName"), policy.At("restartPolicy")
		if !met.Add(name.Str()) {
			w.Add(field.Duplicate(policy.Path(), walk.Enumeration(name.Str())))
		}
		w.Among(p.WithValue(name.Value), "cpu", "memory")
		w.Among(p.WithValue(restart.Value), "NotRequired", "RestartContainer")
		if w.spec.Text("restartPolicy") == "Never" && restart.Str() != "NotRequired" {
			w.InvalidAs(p, restart.Str(), "must be 'NotRequired' when pod `restartPolicy` is 'Never'")
		}
	}
}

// restartRulesSince is the minor release since which containers have rules for restarts.
const restartRulesSince = 35

// containerRestarts validates when a container restarts.
func (w *podWalk) containerRestarts(c walk.Place) {
	policy, rules := c.At("restartPolicy"), c.At("restartPolicyRules")
	isInit := func() bool {
		path := c.Path().String()
		return strings.HasPrefix(path, "initC") || strings.Contains(path, ".initContainers[")
	}
	switch {
	case policy.IsSet() && w.Before(restartRulesSince) && isInit():
		w.OnlyAmong(policy, "Always")
	case policy.IsSet():
		w.OnlyAmong(policy, "Always", "Never", "OnFailure")
	case rules.Len() > 0:
		w.Required(policy, "must specify restartPolicy when restart rules are used")
		if isInit() {
			return // whose rules are ignored then
		}
	}
	if rules.Len() > 20 {
		w.Add(field.TooMany(rules.Path(), rules.Len(), 20))
	}
	for i := range rules.Indexes() {
		rule := rules.Index(i)
		if actions := []string{"Restart", "RestartAllContainers"}; w.Before(36) {
			w.OnlyAmong(rule.At("action"), actions[:1]...)
		} else {
			w.OnlyAmong(rule.At("action"), actions...)
		}
		codes := rule.At("exitCodes")
		if !codes.IsSet() {
			w.Required(codes, "must be specified")
			continue
		}
		w.OnlyAmong(codes.At("operator"), "In", "NotIn")
		if values := codes.At("values"); values.Len() > 255 {
			w.Add(field.TooMany(values.Path(), values.Len(), 255))
		}
	}
}

// ports refuses ports of a container.
func (w *podWalk) ports(p walk.Place) {
	var met walk.Names
	for i := range p.Indexes() {
		port := p.Index(i)
		if name := port.At("name"); name.Str() != "" {
			if wrong := validation.IsValidPortName(name.Str()); len(wrong) > 0 {
				w.Invalid(name, wrong...)
			} else if !met.Add(name.Str()) {
				w.Duplicate(name)
			}
		}
		if number := port.At("containerPort"); number.Int() == 0 {
			w.Required(number, "")
		} else {
			w.Port(number)
		}
		if number := port.At("hostPort"); number.Int() != 0 {
			w.Port(number)
		}
		w.Among(port.At("protocol"), "SCTP", "TCP", "UDP")
	}
}

// hostPorts refuses ports of a node that were met before.
func (w *podWalk) hostPorts(p walk.Place, met *walk.Names) {
	for i := range p.Indexes() {
		port := p.Index(i)
		number := port.At("hostPort")
		if number.Int() == 0 {
			continue
		}
		text := fmt.Sprintf("%s/%s/%d", port.Text("protocol"), port.Text("hostIP"), number.Int())
		if !met.Add(text) {
			w.Add(field.Duplicate(number.Path(), text))
		}
	}
}

// mounts validates where a container has volumes.
func (w *podWalk) mounts(c walk.Place) {
	p := c.At("volumeMounts")
	devices, paths := placesOf(c.Get("volumeDevices"), "devicePath")
	var met walk.Names
	for i := range p.Indexes() {
		m := p.Index(i)
		name, at := m.At("name"), m.At("mountPath")
		w.Present(name)
		if !w.volumes.Has(name.Str()) {
			w.Add(field.NotFound(name.Path(), name.Str()))
		}
		w.Present(at)
		if !met.Add(at.Str()) {
			w.InvalidAs(at, at.Str(), "must be unique")
		}
		if devices.Has(name.Str()) {
			w.InvalidAs(name, name.Str(), "must not already exist in volumeDevices")
		}
		if paths.Has(at.Str()) {
			w.InvalidAs(at, at.Str(), "must not already exist as a path in volumeDevices")
		}
		validateDescending(w.Report, m.At("subPath"), p.At("subPath"))
		expression := m.At("subPathExpr")
		if expression.Str() != "" && m.Text("subPath") != "" {
			w.Invalid(expression, "subPathExpr and subPath are mutually exclusive")
		}
		validateDescending(w.Report, expression, p.At("subPathExpr"))
		w.propagation(m.At("mountPropagation"), p.At("mountPropagation"), c.Get("securityContext", "privileged").Bool())
		w.recursiveReadOnly(m, p.At("recursiveReadOnly"))
	}
}

// recursiveReadOnly validates whether mounts below a mount can be read only; the error is about another place.
func (w *podWalk) recursiveReadOnly(m, told walk.Place) {
	mode, propagation := m.Get("recursiveReadOnly"), m.Get("mountPropagation")
	switch told = told.WithValue(mode); mode.Str() {
	case "Enabled", "IfPossible":
		if !m.Get("readOnly").Bool() {
			w.Forbidden(told, "may only be specified when readOnly is true")
		}
		if walk.IsSet(propagation) && propagation.Str() != "None" {
			w.Forbidden(told, "may only be specified when mountPropagation is None or not specified")
		}
	case "Disabled":
	default:
		if walk.IsSet(mode) {
			w.OnlyAmong(told, "Disabled", "Enabled", "IfPossible")
		}
	}
}

// volumeDevices validates which volumes a container has as devices.
func (w *podWalk) volumeDevices(c walk.Place) {
	p := c.At("volumeDevices")
	mounted, mountedAt := placesOf(c.Get("volumeMounts"), "mountPath")
	var met, paths walk.Names
	for i := range p.Indexes() {
		d := p.Index(i)
		name, at := d.At("name"), d.At("devicePath")
		w.Present(name)
		if met.Has(name.Str()) {
			w.InvalidAs(name, name.Str(), "must be unique")
		}
		if !w.volumes.Has(name.Str()) {
			w.Add(field.NotFound(name.Path(), name.Str()))
		} else if !w.devices.Has(name.Str()) {
			w.InvalidAs(name, name.Str(), "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode")
		}
		w.Present(at)
		if paths.Has(at.Str()) {
			w.InvalidAs(at, at.Str(), "must be unique")
		}
		if slices.Contains(strings.Split(at.Str(), "/"), "..") {
			w.InvalidAs(at, at.Str(), "can not contain backsteps ('..')")
		} else {
			paths.Add(at.Str())
		}
		if mounted.Has(name.Str()) {
			w.InvalidAs(name, name.Str(), "must not already exist in volumeMounts")
		}
		if mountedAt.Has(at.Str()) {
			w.InvalidAs(at, at.Str(), "must not already exist as a path in volumeMounts")
		}
		if name.Str() != "" {
			met.Add(name.Str())
		}
	}
}

// placesOf returns the names of the volumes of a list, and where they are: of several paths of one volume the last.
func placesOf(list value.Value, path string) (names, paths walk.Names) {
	for i := list.Len() - 1; i >= 0; i-- {
		if v := list.Item(i); names.Add(v.Get("name").Str()) {
			paths.Add(v.Get(path).Str())
		}
	}
	return names, paths
}

// validateDescending refuses a path that leaves where it begins; it is told of another place.
func validateDescending(r *walk.Report, p, told walk.Place) {
	if path.IsAbs(p.Str()) {
		r.InvalidAs(told, p.Str(), "must be a relative path")
	}
	noBacksteps(r, p, told)
}

// noBacksteps refuses a path with a step back.
func noBacksteps(r *walk.Report, p, told walk.Place) {
	for step := range strings.SplitSeq(p.Str(), "/") {
		if step == ".." {
			r.InvalidAs(told, p.Str(), "must not contain '..'")
			return
		}
	}
}

// propagation refuses how mounts are told to other namespaces; it is told of another place.
func (w *podWalk) propagation(p, told walk.Place, privileged bool) {
	if !p.IsSet() {
		return
	}
	told.Value = p.Value
	w.OnlyAmong(told, "Bidirectional", "HostToContainer", "None")
	if p.Str() == "Bidirectional" && !privileged {
		w.Forbidden(told, "Bidirectional mount propagation is available only to privileged containers")
	}
}

// lifecycle refuses how a container is watched, and what is done when it starts and ends.
func (w *podWalk) lifecycle(c walk.Place) {
	l := c.At("lifecycle")
	for _, name := range [...]string{"postStart", "preStop"} {
		if h := l.At(name); h.IsSet() {
			w.handler(h)
		}
	}
	if signal := l.At("stopSignal"); signal.IsSet() {
		w.stopSignal(signal)
	}
	for _, name := range [...]string{"livenessProbe", "readinessProbe", "startupProbe"} {
		p := c.At(name)
		if !p.IsSet() {
			continue
		}
		w.probe(p)
		if threshold := p.At("successThreshold"); name != "readinessProbe" && threshold.Int() != 1 {
			w.InvalidAs(threshold, threshold.Int(), "must be 1")
		}
		if grace := p.At("terminationGracePeriodSeconds"); name == "readinessProbe" && grace.IsSet() {
			w.Invalid(grace, "must not be set for readinessProbes")
		}
	}
}

// stopSignal validates the signal that ends a container.
func (w *podWalk) stopSignal(p walk.Place) {
	switch system := w.spec.Get("os"); {
	case !walk.IsSet(system):
		w.Forbidden(p, "may not be set for containers with empty `spec.os.name`")
	case system.Get("name").Str() == "windows":
		w.OnlyAmong(p, "SIGKILL", "SIGTERM")
	case system.Get("name").Str() == "linux":
		w.OnlyAmong(p, signals()...)
	}
}

// signals returns the signals of Linux, sorted.
var signals = sync.OnceValue(func() []string {
	out := strings.Fields("SIGABRT SIGALRM SIGBUS SIGCHLD SIGCLD SIGCONT SIGFPE SIGHUP SIGILL SIGINT SIGIO SIGIOT SIGKILL SIGPIPE SIGPOLL " +
		"SIGPROF SIGPWR SIGQUIT SIGSEGV SIGSTKFLT SIGSTOP SIGSYS SIGTERM SIGTRAP SIGTSTP SIGTTIN SIGTTOU SIGURG SIGUSR1 SIGUSR2 SIGVTALRM " +
		"SIGWINCH SIGXCPU SIGXFSZ SIGRTMIN SIGRTMAX")
	for i := 1; i <= 15; i++ {
		out = append(out, fmt.Sprintf("SIGRTMIN+%d", i))
	}
	for i := 1; i <= 14; i++ {
		out = append(out, fmt.Sprintf("SIGRTMAX-%d", i))
	}
	slices.Sort(out)
	return out
})

// probe refuses how it is found out whether a container works.
func (w *podWalk) probe(p walk.Place) {
	w.handler(p)
	for _, name := range [...]string{"initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"} {
		w.Natural(p.At(name))
	}
	if grace := p.At("terminationGracePeriodSeconds"); grace.IsSet() && grace.Int() <= 0 {
		w.Invalid(grace, "must be greater than 0")
	}
}

// handler refuses an action that is none, or is several.
func (w *podWalk) handler(p walk.Place) {
	found := false
	for _, name := range [...]string{"exec", "httpGet", "tcpSocket", "grpc", "sleep"} {
		action := p.At(name)
		if !action.IsSet() {
			continue
		}
		if found {
			w.Forbidden(action, "may not specify more than 1 handler type")
			continue
		}
		found = true
		w.action(action)
	}
	if !found {
		w.Required(p, "must specify a handler type")
	}
}

// action refuses what is done by a handler.
func (w *podWalk) action(p walk.Place) {
	switch p.Name() {
	case "exec":
		if command := p.At("command"); command.Len() == 0 {
			w.Required(command, "")
		}
	case "httpGet":
		w.httpGet(p)
	case "tcpSocket", "grpc":
		w.PortOrName(p.At("port"))
	case "sleep":
		seconds := p.Get("seconds").Int()
		if most := w.spec.Get("terminationGracePeriodSeconds"); walk.IsSet(most) && (seconds < 0 || seconds > most.Int()) {
			w.InvalidAs(p, seconds, fmt.Sprintf("must be non-negative and less than terminationGracePeriodSeconds (%d)", most.Int()))
		}
	}
}

// httpGet refuses a request of a probe.
func (w *podWalk) httpGet(p walk.Place) {
	w.Present(p.At("path"))
	w.PortOrName(p.At("port"))
	w.OnlyAmong(p.At("scheme"), "HTTP", "HTTPS")
	headers := p.At("httpHeaders")
	for h := range headers.Items() {
		name := h.Get("name").Str()
		w.InvalidAs(headers, name, validation.IsHTTPHeaderName(name)...)
	}
}
