package builtin

import "github.com/deed-project/deed/value"

// flatRequest are members of requests for devices. In resource.k8s.io/v1beta1, the request itself has them. In later
// versions, its member called exactly has them.
var flatRequest = []string{
	"deviceClassName", "selectors", "allocationMode", "count", "adminAccess", "tolerations", "capacity", "derivedAttributes",
}

// requestsAt returns the conversion of the requests at the path names.
func requestsAt(names ...string) conversion {
	path := append(names[:len(names):len(names)], "requests")
	return conversion{
		toCommon: func(object value.Value) value.Value {
			return eachItem(object, func(request value.Value) value.Value {
				if v := request.Get("tolerations"); v.Kind() == value.KindList && v.Len() == 0 { // an empty list of selectors stays one
					request = request.With("tolerations", value.Value{})
				}
				return nested(request, "exactly", flatRequest)
			}, path...)
		},
		fromCommon: func(object value.Value) value.Value {
			return eachItem(object, func(request value.Value) value.Value { return flattened(request, "exactly") }, path...)
		},
	}
}

// nested moves members of object into a member called name, unless all are unset.
func nested(object value.Value, name string, members []string) value.Value {
	inner := value.Object()
	for _, member := range members {
		if v := object.Get(member); !isNothing(v) && (v.Kind() != value.KindString || v.Str() != "") {
			inner = inner.With(member, v)
		}
		object = object.With(member, value.Value{})
	}
	if inner.Len() == 0 {
		return object
	}
	return object.With(name, inner)
}

// flattened moves the members of the member called name into object.
func flattened(object value.Value, name string) value.Value {
	for member, v := range object.Get(name).Members() {
		object = object.With(member, v)
	}
	return object.With(name, value.Value{})
}

// devicesFromBasic and devicesToBasic convert the devices of a slice. In resource.k8s.io/v1beta1, they are in a
// member called basic.
func devicesFromBasic(object value.Value) value.Value {
	return eachItem(object, func(device value.Value) value.Value { return flattened(device, "basic") }, "spec", "devices")
}

func devicesToBasic(object value.Value) value.Value {
	return eachItem(object, func(device value.Value) value.Value {
		basic := device.With("name", value.Value{})
		return value.Object(
			value.Member{Name: "basic", Value: basic},
			value.Member{Name: "name", Value: value.String(device.Get("name").Str())},
		)
	}, "spec", "devices")
}
