package validation

import "strconv"

// ports warns of ports of containers that are the same, or have one name.
func (w *warner) ports(lists []place) {
	same, named := map[string][]place{}, map[string]place{}
	each := func(visit func(port place)) {
		for _, list := range lists {
			for i := range list.indexes() {
				c := list.item(i)
				ports := c.at("ports")
				for i := range ports.indexes() {
					visit(ports.item(i))
				}
			}
		}
	}
	each(func(port place) {
		key := strconv.FormatInt(port.Get("containerPort").Int(), 10) + "/" + port.text("protocol")
		for _, other := range same[key] {
			w.twoPorts(port, other)
		}
		if len(w.texts) < enough { // otherwise there are as many pairs as ports squared
			same[key] = append(same[key], port)
		}
	})
	each(func(port place) {
		name := port.text("name")
		if other, found := named[name]; found {
			w.add("%s: duplicate port name %q with %s, services and probes that select ports by name will use %s", port.path(), name,
				other.path(), other.path())
		} else if name != "" {
			named[name] = port
		}
	})
}

// twoPorts warns of two ports of one number.
func (w *warner) twoPorts(port, other place) {
	host, otherHost := port.Get("hostPort").Int(), other.Get("hostPort").Int()
	ip, otherIP := port.text("hostIP"), other.text("hostIP")
	switch {
	case ip == otherIP && host == otherHost:
		w.add("%s: duplicate port definition with %s", port.path(), other.path())
	case host == 0 || otherHost == 0:
		w.add("%s: overlapping port definition with %s", port.path(), other.path())
	case host == otherHost && (ip == "") != (otherIP == ""):
		w.add("%s: dangerously ambiguous port definition with %s", port.path(), other.path())
	}
}
