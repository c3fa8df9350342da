"""Triton's profiler Proton over the same program: proton_client.py NAME writes NAME.hatchet"""
import sys

import triton.profiler as proton

import workload

workload.start()
proton.start(sys.argv[1], backend="cupti")  # the back end is named: finding it would compile a C program
workload.work()
proton.finalize()
