/* SPDX-License-Identifier: BSD-3-Clause */
/* A host as an extension of Python: `import host; host.run()`. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "host.h"

static PyObject *run(PyObject *module, PyObject *nothing) {
  (void)module, (void)nothing;
  return PyLong_FromLong(host_run());
}

static PyMethodDef methods[] = {{"run", run, METH_NOARGS, "Lives and ends as the variables say."},
                                {NULL, NULL, 0, NULL}};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "host",
                                        .m_methods = methods};

PyMODINIT_FUNC PyInit_host(void) {
  return PyModule_Create(&definition);
}
