#!/usr/bin/env bash
# hosts.sh N RATE command...: runs the command on the first of N hosts, host1 to hostN, all of them on
# this machine: a host is a network namespace with a name and a core of its own. mpirun puts ranks on
# the hosts in turn. Ranks speak to each other by the network of eth1, and mpirun to its daemons by
# that of eth0. RATE is that of eth1 each way, as tc says it: 1gbit, 10gbit, or - for as fast as can
# be. Within it `ip link set eth1 down` cuts the first host's ranks off, and file systems may be
# mounted: both are over with the command. Needs iproute2, util-linux and Open MPI.
set -e

# What mpirun calls in place of ssh: `hosts.sh on HOST command...`.
if [ "$1" = on ]; then
  host=$2
  shift 2
  exec taskset -c "$(((${host#host} - 1) % $(nproc --all)))" ip netns exec "$host" \
    unshare --uts sh -c 'hostname "$0" && eval "$*"' "$host" "$@"
fi

if [ -z "$LADIES_HOSTS" ]; then
  export LADIES_HOSTS=$1
  exec unshare --map-root-user --mount --net --uts "$0" "$@"
fi

n=$1 rate=$2
shift 2

# Joins a host to a network: eth0 or eth1.
join() {
  ip link add name "port$1$2" type veth peer name "eth$2" netns "host$1"
  ip link set "port$1$2" master "switch$2" up
  ip -n "host$1" addr add "10.77.$2.$1/24" dev "eth$2"
  ip -n "host$1" link set "eth$2" up
}

mount -t tmpfs none /run
ip netns attach switches $$ # which stay when this process has become the command
ip link add name switch0 type bridge
ip link add name switch1 type bridge
ip link set switch0 up
ip link set switch1 up
for k in $(seq "$n"); do
  ip netns add "host$k"
  ip -n "host$k" link set lo up
  join "$k" 0
  join "$k" 1
  if [ "$rate" != - ]; then
    ip netns exec "host$k" tc qdisc add dev eth1 root tbf rate "$rate" burst 256kb latency 50ms
  fi
  echo "10.77.0.$k host$k" >>/run/names
  echo "host$k slots=64" >>/run/hosts
done
mount --bind /run/names /etc/hosts

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_plm=rsh OMPI_MCA_plm_rsh_agent="$0 on" OMPI_MCA_oob_tcp_if_include=eth0
export OMPI_MCA_orte_default_hostfile=/run/hosts OMPI_MCA_rmaps_base_mapping_policy=node
export OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,tcp OMPI_MCA_btl_tcp_if_include=eth1
export OMPI_MCA_hwloc_base_binding_policy=none
exec "$0" on host1 "$(printf '%q ' "$@")"
